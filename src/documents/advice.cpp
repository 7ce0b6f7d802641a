#include "documents/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "documents/chain.h"
#include "store/archive.h"
#include "store/continuity.h"
#include "store/meta.h"
#include "store/projects.h"
#include "store/sessions.h"
#include "store/summaries.h"
#include "store/texts.h"

namespace cairn::documents {

namespace {

constexpr std::int64_t kMostSessions = 100;

std::string count(std::size_t number, std::string_view one) {
  return fmt::format("{} {}{}", number, one, number == 1 ? "" : "s");
}

// Edits and commits of a session after some time.
struct Work {
  std::size_t files = 0, commits = 0;
  bool any() const { return files > 0 || commits > 0; }
  // "edited 2 files and made 1 commit"
  std::string text() const {
    std::string out = files > 0 ? "edited " + count(files, "file") : "";
    if (commits > 0) out += (out.empty() ? "made " : " and made ") + count(commits, "commit");
    return out;
  }
};

Result<Work> work_after(store::Db& db, const std::string& platform, const std::string& id, WallTime after) {
  constexpr std::size_t kMostTurns = 200, kMostTextBytes = 1u << 20;
  Work work;
  const auto session = TRY(store::find_session(db, platform, ContentId{id}));
  if (!session) return work;
  std::set<std::string> files;
  for (const store::Summary& turn : TRY(store::last_summaries(db, session->id, kMostTurns)))
    if (turn.created_at > after) files.insert(turn.files_edited.begin(), turn.files_edited.end());
  work.files = files.size();
  for (const store::Text& text : TRY(store::texts_of_session(db, session->id, kMostTextBytes)))
    if (text.kind == store::TextKind::commit && text.at > after) ++work.commits;
  return work;
}

// The moment up to which the document describes the work.
WallTime covered_until(const store::Document& document) {
  return document.updated_at.value_or(document.created_at);
}

// The sessions that worked after the document, without its own.
Result<std::vector<store::LaterWork>> others_after(store::Db& db, const store::Document& document,
                                                   SessionId asking) {
  auto later = TRY(store::worked_after(db, document.project, covered_until(document), asking, kMostSessions));
  std::erase_if(later, [&](const store::LaterWork& one) { return one.session == document.session; });
  return later;
}

// Drops the advice if it was given before with this number or a larger one.
Status say_once(store::Db& db, const std::string& project, std::int64_t number, Advice& advice) {
  const auto row = TRY(store::project_by_name(db, project));
  if (!row) return {};
  advice.once = fmt::format("{}{}", store::kDocumentAdviceReported, row->id);
  advice.number = number;
  if (TRY(store::meta_number(db, advice.once)).value_or(0) >= number) advice = {};
  return {};
}

Result<Advice> without_document(store::Db& db, const AdviceQuery& query) {
  Advice advice;
  const auto backup = TRY(store::newest_pending(db, query.project, query.asking_id));
  if (!backup) return advice;
  const Work work = TRY(work_after(db, backup->key.platform, backup->key.session, WallTime()));
  if (!work.any()) return advice;
  advice.line = fmt::format(
      "recommended: `cairn save` at the end of a session: the last one {} (B{}) and has no document to "
      "resume",
      work.text(), backup->id);
  TRY(say_once(db, query.project, 1, advice));
  return advice;
}

}  // namespace

Result<bool> is_behind(store::Db& db, const store::Document& document, SessionId asking, WallTime now,
                       Millis stale) {
  if (stale == Millis::zero()) return false;
  const auto later = TRY(store::worked_after(db, document.project, covered_until(document), asking, 1));
  // The oldest work comes first: since then the document is behind.
  return !later.empty() && now - later.front().first > stale;
}

Result<Advice> advise(store::Db& db, const AdviceQuery& query) {
  const auto document = TRY(store::newest_document(db, query.project));
  if (!document) return without_document(db, query);
  Advice advice;
  const std::string name = name_of(*document);
  const bool is_own = document->session == query.asking_id;
  // The session that wrote the document knows it, until a compaction drops it.
  if (is_own && !query.is_compacted) return advice;
  const auto newest = TRY(store::newest_backup(db, {document->platform, document->session, ""}));
  const bool pending = newest && TRY(store::is_pending(db, *newest));
  if (pending) {
    const Work work = TRY(work_after(db, document->platform, document->session, covered_until(*document)));
    if (work.any()) {
      advice.line = fmt::format("recommended: `cairn coalesce`: after {} {} session {} (B{})", name,
                                is_own ? "this" : "its", work.text(), newest->id);
      return advice;
    }
  }
  if (is_own) return advice;
  const auto later = TRY(others_after(db, *document, query.asking));
  if (later.empty()) {
    advice.line = fmt::format("recommended: `cairn resume`: {} was saved {}, and {}", name,
                              ago(covered_until(*document), query.now),
                              pending ? fmt::format("B{} after it has no edits and no commits", newest->id)
                                      : "nothing came after it");
    return advice;
  }
  if (query.stale == Millis::zero() || query.now - later.front().first <= query.stale) return advice;
  advice.line = fmt::format("recommended: `cairn save`: {} was saved {}, and {} worked since", name,
                            ago(covered_until(*document), query.now), count(later.size(), "session"));
  // The number of the document: a newer document may become old again. 1 is the advice without any
  // document.
  TRY(say_once(db, query.project, 1 + document->id, advice));
  return advice;
}

}  // namespace cairn::documents
