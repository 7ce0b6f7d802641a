#include "store/sessions.h"

#include "ops/operation.h"
#include "store/summaries.h"

namespace cairn::ops {

static Json session_row(const store::Stmt& row) {
  return Json::object({{"id", row.integer(0)},
                       {"content_session_id", row.text(1)},
                       {"memory_session_id", row.optional_text(2)},
                       {"memory_provider", row.optional_text(3)},
                       {"state", row.is_null(2) ? "NOT_CAPTURED" : "CAPTURED"},
                       {"platform", row.text(4)},
                       {"project", row.text(5)},
                       {"branch", row.optional_text(6)},
                       {"worktree", row.optional_text(7)},
                       {"status", row.text(8)},
                       {"end_reason", row.optional_text(9)},
                       {"prompts", row.integer(10)},
                       {"first_prompt", row.optional_text(11)},
                       {"started_at", time_or_null(row, 12)},
                       {"last_event_at", time_or_null(row, 13)},
                       {"completed_at", time_or_null(row, 14)},
                       {"cwd", row.optional_text(15)},
                       {"transcript_path", row.optional_text(16)},
                       {"captured_at", time_or_null(row, 17)}});
}

#define SESSION_ROWS                                                                                         \
  "SELECT id, content_session_id, memory_session_id, memory_provider, platform, project, branch, worktree, " \
  "status, end_reason, "                                                                                     \
  "prompt_count, user_prompt, started_at_epoch, last_event_at_epoch, completed_at_epoch, cwd, "              \
  "transcript_path, captured_at_epoch FROM sdk_sessions "

static Result<Json> sessions_list(World& world, const Args& args) {
  const auto project = TRY(project_of(world, args));
  store::Stmt row =
      TRY(world.db.query(SESSION_ROWS "WHERE hidden = 0 AND deleted_at IS NULL AND (?1 IS NULL OR project IN "
                                      "(SELECT member FROM project_scope WHERE project = ?1)) ORDER BY "
                                      "last_event_at_epoch DESC, id DESC LIMIT ?2",
                         project, args.integer("limit")));
  Json sessions = Json::array();
  while (TRY(row.step())) sessions.push(session_row(row));
  return Json::object({{"sessions", sessions}});
}

Result<std::int64_t> resolve_session(World& world, const std::string& id) {
  store::Stmt row = TRY(
      world.db.query("SELECT id FROM sdk_sessions WHERE content_session_id = ?1 OR CAST(id AS TEXT) = ?1 OR "
                     "(length(?1) >= 4 AND substr(content_session_id, 1, length(?1)) = ?1) ORDER BY "
                     "content_session_id = ?1 DESC, CAST(id AS TEXT) = ?1 DESC LIMIT 2",
                     id));
  if (!TRY(row.step()))
    return Error{Code::not_found, "there is no session " + id + ": `cairn sessions list --all` shows them"};
  const std::int64_t found = row.integer(0);
  const bool exact =
      TRY(world.db.integer(
              "SELECT 1 FROM sdk_sessions WHERE id = ? AND (content_session_id = ? OR CAST(id AS TEXT) = ?)",
              found, id, id))
          .has_value();
  if (!exact && TRY(row.step()))
    return Error{Code::invalid, "several sessions begin with " + id + ": give more of the id"};
  return found;
}

static Result<Json> session_json(World& world, std::int64_t id) {
  store::Stmt row = TRY(world.db.query(SESSION_ROWS "WHERE id = ?", id));
  if (!TRY(row.step())) return Error{Code::not_found, "there is no session " + std::to_string(id)};
  return session_row(row);
}

static Result<Json> turns_json(World& world, std::int64_t id) {
  store::Stmt row = TRY(world.db.query(
      "SELECT t.prompt_number, p.id, p.prompt_text, t.started_at_epoch, t.ended_at_epoch, t.end_reason, "
      "t.failure, u.id, t.muted "
      "FROM turns t LEFT JOIN user_prompts p ON p.session_db_id = t.session_db_id AND p.prompt_number = "
      "t.prompt_number "
      "LEFT JOIN sdk_sessions s ON s.id = t.session_db_id LEFT JOIN session_summaries u ON "
      "u.memory_session_id = s.memory_session_id "
      "AND u.prompt_number = t.prompt_number WHERE t.session_db_id = ? ORDER BY t.prompt_number",
      id));
  Json turns = Json::array();
  while (TRY(row.step()))
    turns.push(Json::object({{"prompt_number", row.integer(0)},
                             {"prompt_id", row.is_null(1) ? Json() : Json("P" + row.text(1))},
                             {"prompt", row.optional_text(2)},
                             {"started_at", time_or_null(row, 3)},
                             {"ended_at", time_or_null(row, 4)},
                             {"end_reason", row.optional_text(5)},
                             {"failure", row.optional_text(6)},
                             {"summary", row.is_null(7) ? Json() : Json("S" + row.text(7))},
                             {"private", row.integer(8) != 0}}));
  return turns;
}

static Result<Json> events_json(World& world, std::int64_t id) {
  store::Stmt row =
      TRY(world.db.query("SELECT e.seq, e.name, e.kind, e.outcome, e.reason, e.prompt_number, e.tool_name, "
                         "e.tool_use_id, e.agent_id, e.agent_type, "
                         "e.created_at_epoch, e.source, m.status, e.cut FROM events e LEFT JOIN "
                         "pending_messages m ON m.event_seq = e.seq "
                         "WHERE e.session_db_id = ? ORDER BY e.seq",
                         id));
  Json events = Json::array();
  while (TRY(row.step()))
    events.push(Json::object({{"seq", row.integer(0)},
                              {"event", row.text(1)},
                              {"kind", row.text(2)},
                              {"outcome", row.text(3)},
                              {"reason", row.optional_text(4)},
                              {"prompt_number", row.is_null(5) ? Json() : Json(row.integer(5))},
                              {"tool_name", row.optional_text(6)},
                              {"tool_use_id", row.optional_text(7)},
                              {"agent_id", row.optional_text(8)},
                              {"agent_type", row.optional_text(9)},
                              {"time", time_or_null(row, 10)},
                              {"source", row.text(11)},
                              {"message", row.optional_text(12)},
                              {"cut", row.integer(13) != 0}}));
  return events;
}

static Result<Json> counts_of(store::Db& db, std::string_view sql, std::int64_t id) {
  Json counts = Json::object();
  store::Stmt row = TRY(db.query(sql, id));
  while (TRY(row.step())) counts.set(row.text(0), row.integer(1));
  return counts;
}

// The counts of one session: events that hooks delivered, calls in its transcripts, and what became of each.
static Result<Json> ledger_json(World& world, std::int64_t id) {
  store::Db& db = world.db;
  const Json hooks = TRY(counts_of(
      db, "SELECT outcome, count(*) FROM events WHERE session_db_id = ? AND source = 'hook' GROUP BY outcome",
      id));
  const Json calls = TRY(counts_of(
      db, "SELECT outcome, count(*) FROM transcript_calls WHERE session_db_id = ? GROUP BY outcome", id));
  const Json reasons =
      TRY(counts_of(db,
                    "SELECT reason, count(*) FROM transcript_calls WHERE session_db_id = ? AND "
                    "reason IS NOT NULL GROUP BY reason",
                    id));
  Json counted = TRY(counts_of(
      db,
      "SELECT outcome || coalesce(': ' || reason, ''), count(*) FROM events WHERE session_db_id = ? "
      "AND source = 'hook' AND outcome <> 'stored' GROUP BY 1",
      id));
  std::int64_t delivered = 0, told = 0;
  for (const auto& [outcome, count] : hooks.members()) delivered += count.as_int();
  for (const auto& [outcome, count] : calls.members()) told += count.as_int();
  const auto recovered = TRY(db.integer(
      "SELECT count(*) FROM events WHERE session_db_id = ? AND source = 'transcript' AND outcome = 'stored'",
      id));
  const auto work =
      TRY(db.integer("SELECT count(*) FROM events WHERE session_db_id = ? AND outcome = 'stored' AND kind IN "
                     "('tool', 'tool_failure', 'stop', 'stop_failure')",
                     id));
  const auto undone = TRY(db.integer(
      "SELECT count(*) FROM pending_messages WHERE session_db_id = ? AND status <> 'processed'", id));
  Json files = Json::array();
  store::Stmt row =
      TRY(db.query("SELECT path, read_to, lines, malformed, too_long FROM transcripts WHERE session_db_id = "
                   "? ORDER BY path",
                   id));
  while (TRY(row.step()))
    files.push(Json::object({{"path", row.text(0)},
                             {"read_to", row.integer(1)},
                             {"lines", row.integer(2)},
                             {"malformed", row.integer(3)},
                             {"too_long", row.integer(4)}}));
  return Json::object({{"delivered", delivered},
                       {"stored", hooks["stored"].as_int()},
                       {"counted", counted},
                       {"recovered", recovered.value_or(0)},
                       {"distilled", work.value_or(0) - undone.value_or(0)},
                       {"tool_calls", told},
                       {"tool_calls_counted", reasons},
                       {"gap", calls["waiting"].as_int()},
                       {"transcripts", files}});
}

static Result<Json> sessions_show(World& world, const Args& args) {
  const std::int64_t id = TRY(resolve_session(world, args.session("id")));
  Json out = TRY(session_json(world, id));
  Json counts = Json::object();
  store::Stmt row = TRY(
      world.db.query("SELECT outcome, count(*) FROM events WHERE session_db_id = ? GROUP BY outcome", id));
  while (TRY(row.step())) counts.set(row.text(0), row.integer(1));
  out.set("events_by_outcome", counts);
  out.set("ledger", TRY(ledger_json(world, id)));
  out.set("turns", TRY(turns_json(world, id)));
  if (args.flag("events")) out.set("events", TRY(events_json(world, id)));
  return out;
}

static Result<Json> sessions_end(World& world, const Args& args) {
  const std::int64_t id = TRY(resolve_session(world, args.session("id")));
  auto transaction = TRY(store::Transaction::begin(world.db));
  const auto session = TRY(store::find_session(world.db, SessionId{id}));
  CAIRN_ASSERT(session.has_value());
  const bool was_active = session->status == "active";
  if (was_active) {
    TRY(world.intake->recorder().end(*session, "by hand", world.clock.now()));
    TRY(world.intake->recorder().finish());
  }
  TRY(transaction.commit());
  Json out = TRY(session_json(world, id));
  out.set("changed", was_active);
  return out;
}

// The built-in summary never replaces a model's.
static Result<Json> sessions_summarize(World& world, const Args& args) {
  const std::int64_t id = TRY(resolve_session(world, args.session("id")));
  auto transaction = TRY(store::Transaction::begin(world.db));
  const auto session = TRY(store::find_session(world.db, SessionId{id}));
  CAIRN_ASSERT(session.has_value());
  TRY(world.intake->recorder().distil_again(*session));
  TRY(transaction.commit());
  Json summaries = Json::array();
  for (const store::Summary& summary : TRY(store::session_summaries(world.db, session->id)))
    summaries.push(Json::object({{"id", "S" + std::to_string(summary.id)},
                                 {"prompt_number", summary.prompt_number},
                                 {"provider", summary.provider},
                                 {"request", summary.request}}));
  return Json::object({{"id", id}, {"summaries", summaries}});
}

std::vector<Operation> session_operations() {
  const Argument id = session("id", "the session's number, the host's id of it, or the beginning of that id");
  return {
      {.name = "sessions.list",
       .group = Group::memory,
       .summary = "the sessions of this project, newest first",
       .help = "With --all those of every project.",
       .scope = Scope::any,
       .arguments = {integer("limit", 1, kMostRows, "at most N rows").otherwise(50)},
       .body = sessions_list},
      {.name = "sessions.show",
       .group = Group::memory,
       .summary = "one session: its ids, its turns and their summaries",
       .help =
           "ID is the session's number, the host's id of it, or a beginning of that id of four characters "
           "or more that fits only one.\n\n"
           "State CAPTURED means that the memory id is known, NOT_CAPTURED that nothing was distilled yet.",
       .arguments = {id.word().needed(), flag("events", "list every event too")},
       .body = sessions_show},
      {.name = "sessions.end",
       .access = Access::write,
       .group = Group::memory,
       .summary = "end a session whose host is gone",
       .help =
           "As if the host had said that it ended. A session that goes on after all is opened again by its "
           "next prompt.",
       .arguments = {id.word().needed()},
       .body = sessions_end},
      {.name = "sessions.summarize",
       .access = Access::write,
       .group = Group::memory,
       .summary = "make a session's built-in summaries again, now",
       .help = "From the events that are kept. A model's summary stays.",
       .arguments = {id.word().needed()},
       .body = sessions_summarize},
  };
}

}  // namespace cairn::ops
