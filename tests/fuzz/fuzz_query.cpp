// Any text is a valid query, and any stored text can be indexed: no bytes cause an error.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "recall/search.h"
#include "store/schema.h"
#include "store/terms.h"

namespace {

using namespace cairn;

void require(bool holds) {
  if (!holds) std::abort();
}

const WallTime kNow = from_epoch_ms(1'790'000'000'000);

store::Db open_store() {
  std::string directory = "/tmp/fuzz_query.XXXXXX";
  require(mkdtemp(directory.data()) != nullptr);
  store::Db db = store::Db::open({.path = directory + "/cairn.db"}).value();
  require(store::migrate(db, store::schema(), kNow).ok());
  require(db.exec("INSERT INTO projects(uuid, key, name, root, created_at, created_at_epoch) VALUES('p', "
                  "'/p', 'proj', "
                  "'/p', '', 0);"
                  "INSERT INTO sdk_sessions(uuid, platform, content_session_id, project, started_at, "
                  "started_at_epoch, last_event_at_epoch) VALUES('s', 'test', 'one', 'proj', '', 0, 0)")
              .ok());
  return db;
}

void check_terms(std::string_view bytes) {
  for (const store::TermsOf mode : {store::TermsOf::document, store::TermsOf::query}) {
    store::TermReader reader(bytes, mode);
    store::Term term;
    std::size_t from = 0;
    while (reader.next(term)) {
      require(!term.text.empty() && is_utf8(term.text) && term.text.size() < 200);
      require(term.start < term.end && term.end <= bytes.size());
      require(term.start >= from || term.whole);
      if (!term.whole) from = term.start;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static store::Db db = open_store();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_terms(bytes);

  // Stored, changed and taken away again, it leaves the index whole.
  require(db.run("INSERT INTO user_prompts(uuid, session_db_id, content_session_id, project, prompt_number, "
                 "prompt_text, created_at, created_at_epoch) VALUES('u', 1, 'one', 'proj', 1, ?, '', 0)",
                 bytes)
              .ok());
  recall::Search search;
  search.query = recall::read_query(bytes, kNow);
  search.explain = size % 2 == 0;
  if (size % 3 == 0) search.project = "proj";
  const auto found = recall::search(db, search);
  require(found.ok());
  for (const recall::Hit& hit : found->hits)
    for (const recall::Marked* marked : {&hit.title, &hit.excerpt})
      for (const auto& [from, to] : marked->marks) require(from < to && to <= marked->text.size());
  require(db.exec("UPDATE user_prompts SET deleted_at = 'now'; DELETE FROM user_prompts").ok());
  require(db.integer("SELECT count(*) FROM memory_index").value() == 0);
  return 0;
}
