#include "store/ranking.h"

#include <algorithm>

#include "base/time.h"
#include "store/lists.h"
#include "store/rows.h"

namespace cairn::store {

namespace {

// The newest entries that match, counted up to a limit.
struct Newest {
  double count = 0;
  std::int64_t newest = 0, oldest = 0;

  // The factor for the count, if all earlier entries are as close together as these: with 1000 matches among
  // the newest 5000 of 20000 entries there are about 4000 in all.
  double scale(std::size_t limit) const {
    if (count < static_cast<double>(limit) || newest == oldest) return 1;
    return static_cast<double>(newest) / static_cast<double>(newest - oldest);
  }
};

Result<Newest> newest_matches(Db& db, const std::string& match, std::size_t limit) {
  Stmt row = TRY(db.query(
      "SELECT rowid FROM memory_index WHERE memory_index MATCH ? ORDER BY rowid DESC LIMIT ?", match, limit));
  Newest out;
  while (TRY(row.step())) {
    out.oldest = row.integer(0);
    if (out.count++ == 0) out.newest = out.oldest;
  }
  return out;
}

}  // namespace

Result<double> estimated_matches(Db& db, const std::string& match, std::size_t limit) {
  const Newest found = TRY(newest_matches(db, match, limit));
  return found.count * found.scale(limit);
}

Result<Frequency> estimated_frequency(Db& db, const std::string& any, const std::string& own,
                                      std::size_t limit) {
  const Newest found = TRY(newest_matches(db, any, limit));
  if (found.count == 0) return Frequency();
  // Count only among the same entries: further back, very many may have to be read to find a match.
  Stmt row = TRY(db.query("SELECT count(*) FROM memory_index WHERE memory_index MATCH ? AND rowid >= ?", own,
                          found.oldest));
  TRY(row.step());
  const double scale = found.scale(limit);
  return Frequency{found.count * scale, row.real(0) * scale};
}

// The largest ids instead of counts, which would read every row. Deleted rows make the result too large.
Result<double> estimated_entries(Db& db) {
  double sum = 0;
  for (const std::string_view sql :
       {"SELECT max(id) FROM observations", "SELECT max(id) FROM session_summaries",
        "SELECT max(id) FROM user_prompts", "SELECT max(id) FROM texts", "SELECT max(id) FROM open_items"})
    sum += static_cast<double>(TRY(db.integer(sql)).value_or(0));
  return sum;
}

Result<bool> are_all_projects(Db& db, const std::vector<std::string>& projects) {
  return !TRY(db.integer("SELECT 1 FROM projects WHERE name NOT IN (SELECT value FROM json_each(?)) LIMIT 1",
                         list_text(projects)))
              .has_value();
}

static Entry read_candidate(Stmt& row) {
  const std::int64_t entry = row.integer(0);
  return {{static_cast<RecordKind>(entry & 7), entry >> 3}, std::max(0.0, -row.real(1)), 0};
}

// An entry is a row's id times 8, plus the number of its kind (RecordKind).
#define TIME_OF(kind, table, column) \
  "WHEN " kind " THEN (SELECT " column " FROM " table " WHERE id = entry >> 3) "

Result<std::vector<Entry>> candidates(Db& db, const std::string& match, const Period& period,
                                      std::size_t scan, std::size_t limit) {
  if (!period.since && !period.until)
    return all(db.query("SELECT entry, score FROM (SELECT rowid AS entry, rank AS score FROM memory_index "
                        "WHERE memory_index MATCH ? ORDER BY rowid DESC LIMIT ?) ORDER BY score, entry DESC "
                        "LIMIT ?",
                        match, scan, limit),
               read_candidate);
  // Ids are not in the order of time: imported records are old and have new ids. So the period is checked for
  // each match, and more of them are looked at, because most may be outside of it.
  return all(
      db.query(
          "SELECT entry, score FROM (SELECT rowid AS entry, rank AS score FROM memory_index WHERE "
          "memory_index MATCH ? ORDER BY rowid DESC LIMIT ?) WHERE CASE entry & 7 " TIME_OF(
              "1", "observations", "created_at_epoch") TIME_OF("2", "session_summaries", "created_at_epoch")
              TIME_OF("3", "user_prompts", "created_at_epoch") TIME_OF("4", "texts", "created_at_epoch")
                  TIME_OF("6", "open_items", "opened_at_epoch")
                      TIME_OF("7", "session_documents",
                              "created_at_epoch") "END BETWEEN ? AND ? ORDER BY score, entry DESC LIMIT ?",
          match, scan * 20, period.since ? epoch_ms(*period.since) : 0,
          period.until ? epoch_ms(*period.until) : INT64_MAX, limit),
      read_candidate);
}

#define CUT(text) "substr(" text ", 1, ?)"
// Lists are read as they are stored: what separates their items separates words.
#define OBSERVATION \
  "r.id, s.id, r.project, r.prompt_number, r.created_at_epoch, r.type, r.title || ' ' || "                \
  "coalesce(r.subtitle, ''), " CUT("coalesce(r.narrative, '') || ' ' || r.facts") ", r.files_modified || " \
  "r.files_read || r.concepts "
#define TEXT \
  "r.id, r.session_db_id, r.project, r.prompt_number, r.created_at_epoch, r.kind, '', " CUT("r.text") ", " \
                                                                                                      "'' "
#define PROMPT                                                                                 \
  "r.id, r.session_db_id, r.project, r.prompt_number, r.created_at_epoch, 'prompt', '', " CUT( \
      "r.prompt_text") ", '' "

static RankedText read_ranked(Stmt& row, RecordKind kind) {
  RankedText out;
  out.id.kind = kind;
  read_columns(row, out.id.row, out.session, out.project, out.prompt_number, out.at, out.type, out.title,
               out.body, out.names);
  return out;
}

static std::string_view ranked_sql(RecordKind kind) {
  switch (kind) {
    case RecordKind::observation:
      return "SELECT " OBSERVATION
             "FROM observations r JOIN sdk_sessions s ON s.memory_session_id = r.memory_session_id WHERE "
             "r.id "
             "= ? AND r.deleted_at IS NULL AND r.same_as IS NULL";
    case RecordKind::summary:
      return "SELECT r.id, s.id, r.project, r.prompt_number, r.created_at_epoch, 'summary', r.request, " CUT(
          "r.investigated || ' ' || r.learned || ' ' || r.completed || ' ' || r.next_steps || ' ' || "
          "r.notes") ", r.files_edited || r.files_read FROM session_summaries r JOIN sdk_sessions s ON "
                     "s.memory_session_id = r.memory_session_id WHERE r.id = ? AND r.deleted_at IS NULL";
    case RecordKind::prompt:
      return "SELECT " PROMPT "FROM user_prompts r WHERE r.id = ? AND r.deleted_at IS NULL";
    case RecordKind::text: return "SELECT " TEXT "FROM texts r WHERE r.id = ? AND r.deleted_at IS NULL";
    case RecordKind::open:
      return "SELECT r.id, coalesce(r.session_db_id, 0), r.project, r.prompt_number, r.opened_at_epoch, "
             "r.source, r.text, " CUT("r.detail") ", '' FROM open_items r WHERE r.id = ? AND r.deleted_at IS "
                                                  "NULL";
    case RecordKind::document:
      return "SELECT r.id, 0, r.project, NULL, r.created_at_epoch, 'document', r.title, " CUT(
          "r.body") ", r.tags FROM session_documents r WHERE r.id = ? AND r.deleted_at IS NULL";
    case RecordKind::passage:
    case RecordKind::event: break;
  }
  return "";
}

static constexpr std::size_t kLongestText = 64u << 10;

Result<std::optional<RankedText>> ranked_text(Db& db, const RecordId& id) {
  const std::string_view sql = ranked_sql(id.kind);
  if (sql.empty()) return std::optional<RankedText>();
  Stmt row = TRY(db.query(sql, kLongestText, id.row));
  if (!TRY(row.step())) return std::optional<RankedText>();
  return std::optional(read_ranked(row, id.kind));
}

#define IN_SESSION(columns, table, sign, way)                                                         \
  "SELECT " columns "FROM " table " r WHERE r.session_db_id = ? AND (r.created_at_epoch, r.id) " sign \
  " (?, ?) AND r.deleted_at IS NULL ORDER BY r.created_at_epoch " way ", r.id " way " LIMIT ?"
#define OBSERVED(sign, way)                                                                                  \
  "SELECT " OBSERVATION                                                                                      \
  "FROM sdk_sessions s JOIN observations r ON r.memory_session_id = s.memory_session_id WHERE s.id = ? AND " \
  "(r.created_at_epoch, r.id) " sign                                                                         \
  " (?, ?) AND r.deleted_at IS NULL AND r.same_as IS NULL ORDER BY r.created_at_epoch " way ", r.id " way    \
  " LIMIT ?"

static std::string_view around_sql(RecordKind kind, bool later) {
  if (kind == RecordKind::observation) return later ? OBSERVED(">", "ASC") : OBSERVED("<", "DESC");
  if (kind == RecordKind::text)
    return later ? IN_SESSION(TEXT, "texts", ">", "ASC") : IN_SESSION(TEXT, "texts", "<", "DESC");
  return later ? IN_SESSION(PROMPT, "user_prompts", ">", "ASC")
               : IN_SESSION(PROMPT, "user_prompts", "<", "DESC");
}

Result<std::vector<RankedText>> said_around(Db& db, std::int64_t session, const RankedText& anchor,
                                            bool later, std::size_t limit, std::size_t bytes) {
  std::vector<RankedText> found;
  for (const RecordKind kind : {RecordKind::prompt, RecordKind::observation, RecordKind::text}) {
    // Records of the same time are ordered by the numbers of their kinds. Of another kind, all records of the
    // anchor's time are on the side that is asked for, or none.
    const std::int64_t row = kind == anchor.id.kind              ? anchor.id.row
                             : (kind < anchor.id.kind) == !later ? INT64_MAX
                                                                 : 0;
    Stmt each = TRY(db.query(around_sql(kind, later), bytes, session, anchor.at, row, limit));
    while (TRY(each.step())) found.push_back(read_ranked(each, kind));
  }
  return found;
}

}  // namespace cairn::store
