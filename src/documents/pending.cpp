#include "documents/pending.h"

#include <fmt/format.h>

#include <set>

#include "documents/chain.h"
#include "store/archive.h"
#include "store/documents.h"
#include "store/sessions.h"
#include "store/summaries.h"
#include "store/texts.h"

namespace cairn::documents {

Result<std::optional<std::string>> pending_line(store::Db& db, const std::string& project,
                                                const std::string& asking) {
  constexpr std::size_t kMostTurns = 200, kMostTextBytes = 1u << 20;
  const std::optional<std::string> nothing;
  const auto document = TRY(store::newest_document(db, project));
  if (!document || document->session.empty() || document->session == asking) return nothing;
  const auto newest = TRY(store::newest_backup(db, {document->platform, document->session, ""}));
  if (!newest || !TRY(store::is_pending(db, *newest))) return nothing;
  const auto session = TRY(store::find_session(db, document->platform, ContentId{document->session}));
  if (!session) return nothing;
  const WallTime after = document->updated_at.value_or(document->created_at);
  std::set<std::string> files;
  for (const store::Summary& turn : TRY(store::last_summaries(db, session->id, kMostTurns)))
    if (turn.created_at > after) files.insert(turn.files_edited.begin(), turn.files_edited.end());
  std::size_t commits = 0;
  for (const store::Text& text : TRY(store::texts_of_session(db, session->id, kMostTextBytes)))
    if (text.kind == store::TextKind::commit && text.at > after) ++commits;
  if (files.empty() && commits == 0) return nothing;
  return std::optional(
      fmt::format("after {} its session edited {} and made {}: `cairn resume` tells it, `cairn "
                  "coalesce` adds it to the document (recommended)",
                  name_of(*document), files.size() == 1 ? "1 file" : fmt::format("{} files", files.size()),
                  commits == 1 ? "1 commit" : fmt::format("{} commits", commits)));
}

}  // namespace cairn::documents
