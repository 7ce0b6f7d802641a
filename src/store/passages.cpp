#include "store/passages.h"

#include <algorithm>
#include <limits>
#include <set>

#include "store/lists.h"
#include "store/rows.h"

namespace cairn::store {

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
    if (db.changes() == 0) continue;
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
                   "WHERE p.id = ? AND s.deleted_at IS NULL",
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

Result<std::vector<PassageMatch>> best_passages(Db& db, const std::string& match,
                                                const std::vector<std::string>& projects,
                                                const Period& period, std::size_t limit) {
  const auto scope = projects.empty() ? std::nullopt : std::optional(list_text(projects));
  Stmt row =
      TRY(db.query("SELECT p.id, f.rank, b.content_session_id FROM passage_index f JOIN passages p ON p.id = "
                   "f.rowid " SESSION_OF_BASE
                   "WHERE passage_index MATCH ?1 AND s.deleted_at IS NULL AND (?2 IS NULL OR " PROJECT_OF_BASE
                   " IN (SELECT value FROM json_each(?2))) AND p.at_epoch BETWEEN ?3 AND ?4 ORDER BY "
                   "f.rank, p.id DESC",
                   match, scope, period.since ? epoch_ms(*period.since) : 0,
                   period.until ? epoch_ms(*period.until) : std::numeric_limits<std::int64_t>::max()));
  std::vector<PassageMatch> best;
  std::set<std::string> sessions;
  while (best.size() < limit && TRY(row.step()))
    if (sessions.insert(row.text(2)).second)
      best.push_back({row.integer(0), std::max(0.0, -row.real(1)), row.text(2)});
  return best;
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

Result<PassageCounts> passage_counts(Db& db) {
  Stmt row =
      TRY(db.query("SELECT (SELECT count(*) FROM passages), (SELECT coalesce(sum(length(block)), 0) FROM "
                   "passage_index_data) + (SELECT count(*) * 80 FROM passages)"));
  TRY(row.step());
  return PassageCounts{row.integer(0), row.integer(1)};
}

}  // namespace cairn::store
