#include "documents/trash.h"

#include "base/json.h"
#include "store/documents.h"

namespace cairn::documents {

Status empty_trash(store::Db& db, WallTime now) {
  for (const store::UndoEntry& entry : TRY(store::expired_undos(db, now))) {
    const auto detail = Json::parse(entry.detail);
    // An entry that cannot be read brings nothing back, so it is only removed.
    if (detail)
      for (const Json& id : (*detail)["documents"].items()) {
        const auto document = TRY(store::find_document(db, id.as_int()));
        if (document && document->deleted) TRY(store::remove_document(db, document->id));
      }
    TRY(store::remove_undo(db, entry.id));
  }
  return {};
}

}  // namespace cairn::documents
