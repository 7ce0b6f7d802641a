#include "store/transcripts.h"

#include <algorithm>

#include "store/meta.h"
#include "store/rows.h"

namespace cairn::store {

Result<std::vector<SessionId>> sessions_to_read(Db& db, bool active) {
  if (active)
    return all<SessionId>(
        db.query("SELECT id FROM sdk_sessions WHERE transcript_due = 1 AND status = 'active' ORDER BY id"));
  return all<SessionId>(
      db.query("SELECT id FROM sdk_sessions WHERE transcript_due = 1 AND status IN ('completed', 'failed') "
               "ORDER BY id"));
}

// The plus keeps SQLite from an index on the project: few sessions are due, and the index sessions_to_read
// has only those.
Result<std::vector<SessionId>> sessions_to_read(Db& db, const std::string& project) {
  return all<SessionId>(db.query(
      "SELECT id FROM sdk_sessions WHERE transcript_due = 1 AND status IN ('completed', 'failed') AND "
      "+project IN (SELECT member FROM project_scope WHERE project = ?) ORDER BY last_event_at_epoch DESC",
      project));
}

Status set_transcript_read(Db& db, SessionId session) {
  return db.run("UPDATE sdk_sessions SET transcript_due = 0 WHERE id = ?", session.value);
}

Status note_transcript(Db& db, SessionId session, const std::string& path) {
  return db.run(
      "INSERT INTO transcripts(session_db_id, path, inode, read_to, prompt_id, lines, malformed, too_long) "
      "SELECT ?1, ?2, 0, 0, '', 0, 0, 0 WHERE (SELECT count(*) FROM transcripts WHERE session_db_id = ?1 AND "
      "path NOT LIKE '%/subagents/%') < 16 ON CONFLICT DO NOTHING",
      session.value, path);
}

Result<std::vector<std::string>> transcripts_of(Db& db, SessionId session) {
  return all<std::string>(db.query(
      "SELECT path FROM transcripts WHERE session_db_id = ? AND path NOT LIKE '%/subagents/%' ORDER BY path",
      session.value));
}

#define PROGRESS "SELECT path, inode, read_to, prompt_id, lines, malformed, too_long, mark FROM transcripts "

static TranscriptProgress read_progress(Stmt& row) {
  TranscriptProgress p;
  read_columns(row, p.path, p.inode, p.offset, p.prompt_id, p.lines, p.malformed, p.too_long, p.mark);
  return p;
}

Result<std::vector<TranscriptProgress>> all_progress(Db& db, SessionId session) {
  return all(db.query(PROGRESS "WHERE session_db_id = ? ORDER BY path", session.value), read_progress);
}

Result<std::optional<TranscriptProgress>> find_progress(Db& db, SessionId session, const std::string& path) {
  return first(db.query(PROGRESS "WHERE session_db_id = ? AND path = ?", session.value, path), read_progress);
}

Status put_progress(Db& db, SessionId session, const TranscriptProgress& p) {
  return db.run(
      "INSERT INTO transcripts(session_db_id, path, inode, read_to, prompt_id, lines, malformed, too_long, "
      "mark) VALUES(?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET inode = excluded.inode, read_to = "
      "excluded.read_to, prompt_id = excluded.prompt_id, lines = excluded.lines, malformed = "
      "excluded.malformed, too_long = excluded.too_long, mark = excluded.mark",
      session.value, p.path, static_cast<std::int64_t>(p.inode), static_cast<std::int64_t>(p.offset),
      p.prompt_id, p.lines, p.malformed, p.too_long, p.mark);
}

Result<std::optional<CallOutcome>> call_outcome(Db& db, SessionId session, const std::string& tool_use_id) {
  const auto outcome =
      TRY(db.text("SELECT outcome FROM transcript_calls WHERE session_db_id = ? AND tool_use_id = ?",
                  session.value, tool_use_id));
  return outcome ? named<CallOutcome>(*outcome) : std::nullopt;
}

Status note_call(Db& db, SessionId session, const std::string& tool_use_id, CallOutcome outcome,
                 std::string_view reason, WallTime at) {
  return db.run(
      "INSERT INTO transcript_calls(session_db_id, tool_use_id, outcome, reason, at_epoch) "
      "VALUES(?,?,?,nullif(?, ''),?) ON CONFLICT DO UPDATE SET outcome = excluded.outcome, reason = "
      "excluded.reason",
      session.value, tool_use_id, name_of(outcome), reason, epoch_ms(at));
}

Result<CallCounts> count_calls(Db& db, SessionId session) {
  return CallCounts{
      TRY(counts(
          db.query("SELECT outcome, count(*) FROM transcript_calls WHERE session_db_id = ? GROUP BY outcome",
                   session))),
      TRY(counts(db.query("SELECT reason, count(*) FROM transcript_calls WHERE session_db_id = ? AND reason "
                          "IS NOT NULL GROUP BY reason",
                          session)))};
}

// A hook may have delivered a call since: then it is `stored`.
Status give_up_calls(Db& db, SessionId session) {
  return db.run(
      "UPDATE transcript_calls SET (outcome, reason) = (SELECT CASE WHEN known THEN 'stored' ELSE 'counted' "
      "END, CASE WHEN known THEN NULL ELSE 'its line is gone from the transcript' END FROM (SELECT EXISTS "
      "(SELECT 1 FROM events e WHERE e.session_db_id = transcript_calls.session_db_id AND e.tool_use_id = "
      "transcript_calls.tool_use_id AND e.outcome = 'stored') AS known)) WHERE session_db_id = ? AND outcome "
      "= 'waiting'",
      session.value);
}

Result<ToolRows> tool_rows(Db& db, SessionId session, const std::string& tool_use_id) {
  Stmt row = TRY(
      db.query("SELECT kind FROM events WHERE session_db_id = ? AND tool_use_id = ? AND outcome = 'stored'",
               session.value, tool_use_id));
  ToolRows rows;
  while (TRY(row.step())) {
    const auto kind = named<event::Kind>(row.text(0));
    rows.start |= kind == event::Kind::tool_start;
    rows.end |= kind == event::Kind::tool || kind == event::Kind::tool_failure;
  }
  return rows;
}

Result<bool> is_inherited(Db& db, SessionId session, const std::string& project,
                          const std::string& tool_use_id, const std::string& prompt_id) {
  return TRY(db.integer("SELECT 1 FROM sdk_sessions s WHERE s.project IN (SELECT member FROM project_scope "
                        "WHERE project = ?1) AND s.id <> ?2 AND (EXISTS (SELECT 1 FROM prompt_ids p WHERE "
                        "p.session_db_id = s.id AND p.prompt_id = ?4) OR EXISTS (SELECT 1 FROM events e "
                        "WHERE e.session_db_id = s.id AND e.tool_use_id = ?3 AND e.tool_use_id IS NOT NULL "
                        "AND e.outcome = 'stored')) LIMIT 1",
                        project, session.value, tool_use_id, prompt_id))
      .has_value();
}

Result<std::optional<WallTime>> watched_since(Db& db, SessionId session) {
  const auto at = TRY(db.integer("SELECT watched_since_epoch FROM sdk_sessions WHERE id = ?", session.value));
  return at ? std::optional(from_epoch_ms(*at)) : std::nullopt;
}

Status set_watched_since(Db& db, SessionId session, WallTime at) {
  return db.run("UPDATE sdk_sessions SET watched_since_epoch = ? WHERE id = ?", epoch_ms(at), session.value);
}

// Four cases, by what was known before:
// - it was off, is on: the pause ends;
// - it was off, is off: nothing changes;
// - it was on, is off: a pause begins. At a start it begins with the last event: no daemon saw the change;
// - it was on, is on: nothing, unless the flags were known and changed while no daemon ran. Then capture may
//   have been off in between, and all of that time counts as a pause.
Status note_capture(Db& db, bool on, WallTime changed, bool start) {
  const std::int64_t at = epoch_ms(changed);
  const auto known = TRY(meta_number(db, kFlagsChanged));
  if (known == at) return {};
  TRY(put_meta(db, kFlagsChanged, at));
  const bool was_off = TRY(db.integer("SELECT 1 FROM capture_pauses WHERE until_epoch IS NULL")).has_value();
  if (was_off && on)
    return db.run("UPDATE capture_pauses SET until_epoch = max(from_epoch, ?) WHERE until_epoch IS NULL", at);
  if (was_off || (on && !start) || (on && !known)) return {};
  std::int64_t from = at;
  if (start)
    from = std::min(
        at, TRY(db.integer("SELECT created_at_epoch FROM events ORDER BY seq DESC LIMIT 1")).value_or(at));
  return db.run("INSERT INTO capture_pauses(from_epoch, until_epoch) VALUES(?, ?)", from,
                on ? std::optional(at) : std::nullopt);
}

Result<bool> capture_was_off(Db& db, WallTime from, WallTime until) {
  return TRY(db.integer("SELECT 1 FROM capture_pauses WHERE from_epoch <= ? AND coalesce(until_epoch, "
                        "9223372036854775807) >= ?",
                        epoch_ms(until), epoch_ms(from)))
      .has_value();
}

}  // namespace cairn::store
