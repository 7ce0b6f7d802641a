#include "store/open_items.h"

#include "store/rows.h"

namespace cairn::store {

#define ITEM_TOOLS TOOLS_OF_TURN("i.session_db_id", "i.prompt_number")
#define ITEMS                                                                                                \
  "SELECT i.id, i.project, i.branch, i.session_db_id, coalesce(s.content_session_id, ''), i.prompt_number, " \
  "i.seen_prompt, i.source, i.state, i.key, i.text, i.detail, i.event_seq, i.opened_at_epoch, "              \
  "i.last_seen_at_epoch, i.closed_at_epoch, coalesce(i.closed_by, ''), " ITEM_TOOLS                          \
  " FROM open_items i LEFT JOIN sdk_sessions s ON s.id = i.session_db_id WHERE i.deleted_at IS NULL AND "

static OpenItem read_item(Stmt& row) {
  OpenItem i;
  read_columns(row, i.id, i.project, i.branch, i.session, i.content_session, i.prompt_number, i.seen_prompt,
               i.source, i.state, i.key, i.text, i.detail, i.event, i.opened_at, i.last_seen_at, i.closed_at,
               i.closed_by, i.origins);
  return i;
}

static Result<std::vector<OpenItem>> all_items(Result<Stmt> query) {
  return all(std::move(query), read_item);
}

Result<std::int64_t> add_open_item(Db& db, const OpenItem& item) {
  TRY(
      db.run("INSERT INTO open_items(uuid, project, branch, session_db_id, prompt_number, seen_prompt, "
             "source, state, key, text, detail, event_seq, opened_at, opened_at_epoch, last_seen_at_epoch) "
             "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
             new_uuid(epoch_ms(item.opened_at)), item.project, item.branch, item.session, item.prompt_number,
             item.seen_prompt, name_of(item.source), name_of(item.state), item.key, item.text, item.detail,
             item.event, iso8601(item.opened_at), epoch_ms(item.opened_at), epoch_ms(item.last_seen_at)));
  return db.last_insert_rowid();
}

Status update_open_item(Db& db, const OpenItem& item) {
  TRY(
      db.run("UPDATE open_items SET session_db_id = ?, prompt_number = ?, seen_prompt = ?, state = ?, key = "
             "?, event_seq = ?, last_seen_at_epoch = ? WHERE id = ?",
             item.session, item.prompt_number, item.seen_prompt, name_of(item.state), item.key, item.event,
             epoch_ms(item.last_seen_at), item.id));
  // In a statement of its own: text and detail are in the search index, which is rewritten even when they
  // are the same.
  return db.run(
      "UPDATE open_items SET text = ?1, detail = ?2 WHERE id = ?3 AND (text, detail) IS NOT (?1, ?2)",
      item.text, item.detail, item.id);
}

Status close_open_item(Db& db, std::int64_t id, std::string_view by, const std::optional<OpenTurn>& turn,
                       WallTime at) {
  return db.run(
      "UPDATE open_items SET closed_at = ?, closed_at_epoch = ?, closed_by = ?, closed_session = ?, "
      "closed_prompt = ? WHERE id = ? AND closed_at_epoch IS NULL",
      iso8601(at), epoch_ms(at), by, turn ? std::optional(turn->session.value) : std::nullopt,
      turn ? std::optional(turn->number) : std::nullopt, id);
}

Status reopen_item(Db& db, std::int64_t id, std::string_view by) {
  return db.run(
      "UPDATE open_items SET closed_at = NULL, closed_at_epoch = NULL, closed_by = NULL, closed_session = "
      "NULL, closed_prompt = NULL WHERE id = ? AND closed_by = ?",
      id, by);
}

Status undo_closings(Db& db, const OpenTurn& turn) {
  return db.run(
      "UPDATE open_items SET closed_at = NULL, closed_at_epoch = NULL, closed_by = NULL, closed_session = "
      "NULL, closed_prompt = NULL WHERE closed_session = ? AND closed_prompt = ?",
      turn.session.value, turn.number);
}

Status delete_open_item(Db& db, std::int64_t id) {
  return db.run("DELETE FROM open_items WHERE id = ?", id);
}

// An item without a closing turn was closed by a person.
Result<bool> closed_by_person(Db& db, const std::string& project, const std::string& key) {
  return TRY(db.integer("SELECT 1 FROM open_items WHERE project IN (SELECT member FROM project_names WHERE "
                        "project = ?) AND key = ? AND closed_at_epoch IS NOT NULL AND closed_session IS NULL "
                        "LIMIT 1",
                        project, key))
      .has_value();
}

Result<std::vector<OpenItem>> items_of_turn(Db& db, const OpenTurn& turn) {
  return all_items(db.query(ITEMS "i.session_db_id = ? AND i.prompt_number = ? ORDER BY i.id",
                            turn.session.value, turn.number));
}

Result<std::vector<OpenItem>> open_items(Db& db, const OpenItemQuery& query) {
  if (query.closed)
    return all_items(
        db.query(ITEMS
                 "i.closed_at_epoch IS NOT NULL AND (?1 IS NULL OR i.project IN (SELECT member FROM "
                 "project_scope WHERE project = ?1)) ORDER BY i.closed_at_epoch DESC, i.id DESC LIMIT ?2",
                 query.project, query.limit));
  if (!query.project)
    return all_items(db.query(ITEMS "i.closed_at_epoch IS NULL AND (?1 OR i.source <> 'plan' OR i.state = "
                                    "'accepted') ORDER BY i.last_seen_at_epoch DESC, i.id DESC LIMIT ?2",
                              query.all_plans, query.limit));
  return all_items(db.query(ITEMS
                            "i.closed_at_epoch IS NULL AND (?1 OR i.source <> 'plan' OR i.state = "
                            "'accepted') AND i.project IN (SELECT member FROM project_scope WHERE project = "
                            "?2) ORDER BY i.last_seen_at_epoch DESC, i.id DESC LIMIT ?3",
                            query.all_plans, *query.project, query.limit));
}

Result<std::optional<OpenItem>> find_open_item(Db& db, std::int64_t id) {
  return first(db.query(ITEMS "i.id = ?", id), read_item);
}

Status put_edits(Db& db, const OpenTurn& turn, const TurnEdits& edits) {
  TRY(db.run("DELETE FROM uncommitted_edits WHERE session_db_id = ? AND prompt_number = ?",
             turn.session.value, turn.number));
  if (edits.committed) {
    // `files` were edited after the turn's commit, and are stored with the time `at`: so the commit is dated
    // just before it, and leaves them uncommitted.
    const std::int64_t before = epoch_ms(edits.at) - 1;
    TRY(
        db.run("INSERT INTO last_commits(project, worktree, at_epoch) VALUES(?,?,?) ON CONFLICT DO UPDATE "
               "SET at_epoch = max(at_epoch, excluded.at_epoch)",
               edits.project, edits.worktree, before));
    TRY(db.run("DELETE FROM uncommitted_edits WHERE project = ? AND worktree = ? AND at_epoch <= ?",
               edits.project, edits.worktree, before));
  }
  for (const std::string& file : edits.files)
    TRY(
        db.run("INSERT INTO uncommitted_edits(session_db_id, prompt_number, project, worktree, path, "
               "at_epoch) VALUES(?,?,?,?,?,?) ON CONFLICT DO NOTHING",
               turn.session.value, turn.number, edits.project, edits.worktree, file, epoch_ms(edits.at)));
  return {};
}

Result<std::vector<std::string>> edited_since_commit(Db& db, const std::string& project,
                                                     const std::string& worktree) {
  constexpr int kMost = 200;
  return all<std::string>(
      db.query("SELECT DISTINCT path FROM (SELECT path FROM uncommitted_edits WHERE project = ?1 AND "
               "worktree = ?2 AND at_epoch > coalesce((SELECT at_epoch FROM last_commits WHERE project = ?1 "
               "AND worktree = ?2), 0) ORDER BY at_epoch DESC LIMIT ?3) ORDER BY path",
               project, worktree, kMost));
}

Result<std::optional<std::string>> branch_of(Db& db, const std::string& content_session) {
  return db.text("SELECT branch FROM sdk_sessions WHERE content_session_id = ? ORDER BY id DESC LIMIT 1",
                 content_session);
}

// The newest session of each name by the index sessions_by_project: a maximum over all would read them all.
Result<WallTime> last_activity(Db& db, const std::optional<std::string>& project) {
  const auto at =
      project ? TRY(db.integer(
                    "SELECT max((SELECT last_event_at_epoch FROM sdk_sessions WHERE project = m.member ORDER "
                    "BY started_at_epoch DESC LIMIT 1)) FROM project_scope m WHERE m.project = ?",
                    *project))
              : TRY(db.integer("SELECT max(last_event_at_epoch) FROM sdk_sessions"));
  return from_epoch_ms(at.value_or(0));
}

Result<std::int64_t> count_open_items(Db& db, const std::optional<std::string>& project) {
  const WallTime since = TRY(last_activity(db, project)) - kOpenItemAge;
  return TRY(db.integer(
                 "SELECT count(*) FROM open_items WHERE closed_at_epoch IS NULL AND deleted_at IS NULL "
                 "AND (source <> 'plan' OR state = 'accepted') AND (?1 IS NULL OR project IN (SELECT member "
                 "FROM project_scope WHERE project = ?1)) AND "
                 "last_seen_at_epoch >= ?2",
                 project, epoch_ms(since)))
      .value_or(0);
}

}  // namespace cairn::store
