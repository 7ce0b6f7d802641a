#include "store/event_index.h"

#include <algorithm>

#include "store/lists.h"
#include "store/rows.h"

namespace cairn::store {

Result<std::vector<std::int64_t>> events_to_index(Db& db, std::size_t limit) {
  return all<std::int64_t>(db.query(
      "SELECT event_seq FROM evidence WHERE indexed = 0 AND event_seq > 0 ORDER BY event_seq DESC LIMIT ?",
      limit));
}

static Status unindex_event(Db& db, std::int64_t seq) {
  return db.run("DELETE FROM event_index WHERE rowid = ?", seq);
}

Status index_again(Db& db, const std::vector<std::int64_t>& events) {
  for (const std::int64_t seq : events) {
    TRY(unindex_event(db, seq));
    TRY(db.run("UPDATE evidence SET indexed = 0 WHERE event_seq = ?", seq));
  }
  return {};
}

Status index_event(Db& db, std::int64_t seq, std::string_view input, std::string_view output) {
  TRY(db.run("INSERT INTO event_index(rowid, input, output) VALUES(?, ?, ?)", seq, input, output));
  return db.run("UPDATE evidence SET indexed = 1 WHERE event_seq = ?", seq);
}

Status skip_event(Db& db, std::int64_t seq) {
  return db.run("UPDATE evidence SET indexed = 2 WHERE event_seq = ?", seq);
}

#define SESSION_OF_EVENT                                                                                    \
  "JOIN events e ON e.seq = found.seq JOIN sdk_sessions s ON s.id = e.session_db_id WHERE s.deleted_at IS " \
  "NULL "

// The inner query bounds the cost: only the newest matches get a rank, however many there are. Project and
// period are checked after it. FTS5's rank is negative, the best one lowest.
Result<std::vector<LongMatch>> best_events(Db& db, const std::string& match,
                                           const std::vector<std::string>& projects, const Period& period,
                                           std::size_t scan, std::size_t limit) {
  const auto scope = projects.empty() ? std::nullopt : std::optional(list_text(projects));
  return all(
      db.query("SELECT found.seq, found.score, s.content_session_id, e.prompt_number FROM (SELECT rowid "
               "AS seq, rank AS score FROM event_index WHERE event_index MATCH ?1 ORDER BY rowid DESC "
               "LIMIT ?2) found " SESSION_OF_EVENT
               "AND (?3 IS NULL OR s.project IN (SELECT value FROM json_each(?3))) AND "
               "e.created_at_epoch BETWEEN ?4 AND ?5 ORDER BY found.score, found.seq DESC LIMIT ?6",
               match, scan, scope, period.since ? epoch_ms(*period.since) : 0,
               period.until ? epoch_ms(*period.until) : INT64_MAX, limit),
      [](const Stmt& row) {
        return LongMatch{{RecordKind::event, row.integer(0)},
                         std::max(0.0, -row.real(1)),
                         row.text(2),
                         row.optional_integer(3)};
      });
}

// The project is checked after the inner limit, so that one has room for calls of other projects.
Result<std::vector<std::int64_t>> newest_events(Db& db, const std::string& match,
                                                const std::vector<std::string>& projects, std::size_t limit) {
  const auto scope = projects.empty() ? std::nullopt : std::optional(list_text(projects));
  return all<std::int64_t>(db.query(
      "SELECT found.seq FROM (SELECT rowid AS seq FROM event_index WHERE event_index MATCH ?1 ORDER BY "
      "rowid DESC LIMIT ?2) found " SESSION_OF_EVENT
      "AND (?3 IS NULL OR s.project IN (SELECT value FROM json_each(?3))) ORDER BY found.seq DESC "
      "LIMIT ?4",
      match, limit * 20, scope, limit));
}

Result<std::vector<std::int64_t>> rows_that_match(Db& db, RecordKind kind, const std::string& match,
                                                  const std::vector<std::int64_t>& rows) {
  std::string list = "[";
  for (const std::int64_t row : rows) list += (list.size() == 1 ? "" : ",") + std::to_string(row);
  list += "]";
  return all<std::int64_t>(
      kind == RecordKind::event
          ? db.query("SELECT f.rowid FROM json_each(?2) j JOIN event_index f ON f.rowid = j.value WHERE "
                     "event_index MATCH ?1",
                     match, list)
          : db.query("SELECT f.rowid FROM json_each(?2) j JOIN passage_index f ON f.rowid = j.value WHERE "
                     "passage_index MATCH ?1",
                     match, list));
}

// event_index_data is the table in which FTS5 keeps the index.
Result<EventIndexSize> event_index_size(Db& db) {
  Stmt row = TRY(db.query(
      "SELECT (SELECT count(*) FROM evidence WHERE indexed = 1), (SELECT coalesce(sum(length(block)), "
      "0) FROM event_index_data), (SELECT count(*) FROM evidence WHERE indexed = 0)"));
  TRY(row.step());
  return EventIndexSize{row.integer(0), row.integer(1), row.integer(2)};
}

}  // namespace cairn::store
