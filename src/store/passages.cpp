#include "store/passages.h"

#include <algorithm>
#include <limits>

#include "store/lists.h"
#include "store/rows.h"

namespace cairn::store {

// A base has unindexed lines when its segments have more lines than its progress says.
Result<std::optional<UnindexedBase>> next_unindexed(Db& db) {
  Stmt row = TRY(db.query(
      "SELECT b.id, coalesce(p.lines, 0), coalesce(p.state, '') FROM backup_bases b LEFT JOIN "
      "passage_progress p ON p.base_id = b.id WHERE b.is_redacted AND coalesce(p.lines, 0) < (SELECT "
      "sum(lines) FROM backup_segments WHERE base_id = b.id) ORDER BY b.id DESC LIMIT 1"));
  if (!TRY(row.step())) return std::optional<UnindexedBase>();
  UnindexedBase found;
  found.lines = row.integer(1);
  found.state = row.text(2);
  auto base = TRY(find_base(db, row.integer(0)));
  if (!base) return std::optional<UnindexedBase>();
  found.base = *std::move(base);
  return std::optional(std::move(found));
}

Status add_passages(Db& db, std::int64_t base, const std::vector<NewPassage>& passages, std::int64_t lines,
                    std::string_view state) {
  for (const NewPassage& p : passages) {
    TRY(db.run(
        "INSERT INTO passages(base_id, first_line, last_line, at_epoch, prompt_id) VALUES(?,?,?,?,?) ON "
        "CONFLICT DO NOTHING",
        base, p.first_line, p.last_line, epoch_ms(p.at), p.prompt_id));
    if (db.changes() == 0) continue;  // it is indexed already
    TRY(db.run("INSERT INTO passage_index(rowid, body) VALUES(?, ?)", db.last_insert_rowid(), p.text));
  }
  return db.run(
      "INSERT INTO passage_progress(base_id, lines, state) VALUES(?, ?, ?) ON CONFLICT DO UPDATE SET lines = "
      "excluded.lines, state = excluded.state",
      base, lines, state);
}

// The project of a session that only the archive knows is that of its backups.
#define SESSION_OF_BASE                                                                              \
  "JOIN backup_bases b ON b.id = p.base_id LEFT JOIN sdk_sessions s ON s.platform = b.platform AND " \
  "s.content_session_id = b.content_session_id "
#define PROJECT_OF_BASE "coalesce(s.project, (SELECT project FROM backups WHERE base_id = b.id LIMIT 1), '')"

Result<std::optional<Passage>> find_passage(Db& db, std::int64_t id) {
  Stmt row =
      TRY(db.query("SELECT p.base_id, p.first_line, p.last_line, p.at_epoch, p.prompt_id, " PROJECT_OF_BASE
                   ", (SELECT prompt_number FROM prompt_ids i WHERE i.session_db_id = s.id AND i.prompt_id = "
                   "p.prompt_id), "
                   "(SELECT max(id) FROM backups WHERE base_id = b.id) FROM passages p " SESSION_OF_BASE
                   "WHERE p.id = ? AND p.deleted_at IS NULL AND s.deleted_at IS NULL",
                   id));
  if (!TRY(row.step())) return std::optional<Passage>();
  Passage p;
  p.id = id;
  read_columns(row, p.base.id, p.first_line, p.last_line, p.at, p.prompt_id, p.project, p.prompt_number,
               p.backup);
  auto base = TRY(find_base(db, p.base.id));
  if (!base) return std::optional<Passage>();
  p.base = *std::move(base);
  return std::optional(std::move(p));
}

Result<std::vector<LongMatch>> best_passages(Db& db, const std::string& match,
                                             const std::vector<std::string>& projects, const Period& period,
                                             std::size_t scan, std::size_t limit) {
  const auto scope = projects.empty() ? std::nullopt : std::optional(list_text(projects));
  return all(
      db.query(
          "SELECT p.id, found.score, b.content_session_id, (SELECT prompt_number FROM prompt_ids i WHERE "
          "i.session_db_id = s.id AND i.prompt_id = p.prompt_id) FROM (SELECT rowid AS row, rank AS score "
          "FROM passage_index WHERE passage_index MATCH ?1 ORDER BY rowid DESC LIMIT ?2) found JOIN "
          "passages p ON p.id = found.row " SESSION_OF_BASE
          "WHERE p.deleted_at IS NULL AND s.deleted_at IS NULL AND (?3 IS NULL OR " PROJECT_OF_BASE
          " IN (SELECT value FROM json_each(?3))) AND p.at_epoch BETWEEN ?4 AND ?5 ORDER BY "
          "found.score, p.id DESC LIMIT ?6",
          match, scan, scope, period.since ? epoch_ms(*period.since) : 0,
          period.until ? epoch_ms(*period.until) : std::numeric_limits<std::int64_t>::max(), limit),
      [](const Stmt& row) {
        return LongMatch{{RecordKind::passage, row.integer(0)},
                         std::max(0.0, -row.real(1)),
                         row.text(2),
                         row.optional_integer(3)};
      });
}

Status forget_passages(Db& db, SessionId session, std::int64_t number) {
  return db.run(
      "DELETE FROM passages WHERE base_id IN (SELECT b.id FROM backup_bases b JOIN sdk_sessions s ON "
      "s.platform = b.platform AND s.content_session_id = b.content_session_id WHERE s.id = ?1) AND "
      "prompt_id IN (SELECT prompt_id FROM prompt_ids WHERE session_db_id = ?1 AND prompt_number = ?2)",
      session.value, number);
}

Status clear_passages(Db& db) {
  TRY(db.run("DELETE FROM passage_progress"));
  return db.run("DELETE FROM passages");
}

Result<std::vector<std::int64_t>> passages_with(Db& db, std::int64_t base, std::int64_t first,
                                                std::int64_t last) {
  return all<std::int64_t>(db.query(
      "SELECT id FROM passages WHERE base_id = ? AND first_line <= ? AND last_line >= ?", base, last, first));
}

Status reindex_passage(Db& db, std::int64_t id, std::string_view text) {
  TRY(db.run("DELETE FROM passage_index WHERE rowid = ?", id));
  return db.run("INSERT INTO passage_index(rowid, body) VALUES(?, ?)", id, text);
}

}  // namespace cairn::store
