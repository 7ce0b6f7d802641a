#include "store/sessions.h"

#include "ops/operation.h"
#include "store/events.h"
#include "store/queue_admin.h"
#include "store/summaries.h"
#include "store/transcripts.h"
#include "store/turns.h"

namespace cairn::ops {

static Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

static Json session_json(const store::Session& s) {
  const auto* captured = std::get_if<store::Captured>(&s.identity);
  return Json::object({{"id", s.id.value},
                       {"content_session_id", s.content_id.value},
                       {"memory_session_id", captured ? Json(captured->id.value) : Json()},
                       {"memory_provider", captured ? text_or_null(captured->provider) : Json()},
                       {"state", captured ? "CAPTURED" : "NOT_CAPTURED"},
                       {"platform", s.platform},
                       {"project", s.project},
                       {"branch", s.branch},
                       {"worktree", s.worktree},
                       {"status", name_of(s.status)},
                       {"end_reason", s.end_reason},
                       {"prompts", s.prompt_count},
                       {"first_prompt", text_or_null(s.user_prompt)},
                       {"started_at", iso8601(s.started_at)},
                       {"last_event_at", iso8601(s.last_event_at)},
                       {"completed_at", time_or_null(s.completed_at)},
                       {"cwd", s.cwd},
                       {"transcript_path", text_or_null(s.transcript_path)},
                       {"captured_at", time_or_null(s.captured_at)}});
}

static Result<Json> sessions_list(World& world, const Args& args) {
  const auto project = TRY(project_of(world, args));
  Json sessions = Json::array();
  for (const store::Session& session : TRY(store::list_sessions(world.db, project, args.integer("limit"))))
    sessions.push(session_json(session));
  return Json::object({{"sessions", sessions}});
}

Result<store::Session> resolve_session(World& world, const std::string& name) {
  auto found = TRY(store::sessions_named(world.db, name));
  if (found.empty())
    return Error{Code::not_found, "there is no such session: `cairn sessions list --all` shows them"};
  if (found.size() > 1) return Error{Code::invalid, "several sessions begin like this: give more of the id"};
  return std::move(found.front());
}

// The id of a record, such as P7; null when there is none.
static Json record_or_null(char letter, const std::optional<std::int64_t>& row) {
  return row ? Json(letter + std::to_string(*row)) : Json();
}

static Json turn_json(const store::SessionTurn& t) {
  return Json::object({{"prompt_number", t.turn.number},
                       {"prompt_id", record_or_null('P', t.prompt)},
                       {"prompt", t.prompt_text},
                       {"started_at", iso8601(t.turn.started_at)},
                       {"ended_at", time_or_null(t.turn.ended_at)},
                       {"end_reason", text_or_null(std::string(name_of(t.turn.end_reason)))},
                       {"failure", text_or_null(t.turn.failure)},
                       {"summary", record_or_null('S', t.summary)},
                       {"private", t.turn.is_private}});
}

static Json event_json(const store::EventRow& e) {
  return Json::object({{"seq", e.seq},
                       {"event", e.name},
                       {"kind", event::kind_name(e.kind)},
                       {"outcome", name_of(e.outcome)},
                       {"reason", e.reason},
                       {"prompt_number", number_or_null(e.prompt_number)},
                       {"tool_name", e.tool_name},
                       {"tool_use_id", e.tool_use_id},
                       {"agent_id", e.agent_id},
                       {"agent_type", e.agent_type},
                       {"time", iso8601(e.at)},
                       {"source", store::name_of(e.source)},
                       {"message", e.message ? Json(name_of(*e.message)) : Json()},
                       {"cut", e.cut}});
}

static void add(Json& counts, const std::string& name, std::int64_t more) {
  counts.set(name, counts[name].as_int() + more);
}

// The counts of one session: events that hooks delivered, calls in its transcripts, and what became of
// each. Delivered = stored + counted. `gap` is the calls that only the transcript has so far. Each stored
// end of a call or turn was a message of the queue once; those that wait or failed are not distilled.
static Status add_ledger(World& world, SessionId id, Json& out) {
  using event::Kind;
  Json outcomes = Json::object(), counted = Json::object();
  std::int64_t delivered = 0, stored = 0, recovered = 0, work = 0, total = 0, waiting = 0;
  for (const store::EventCount& e : TRY(store::count_events(world.db, id))) {
    const bool hook = e.source == event::Source::hook, is_stored = e.outcome == store::EventOutcome::stored;
    const std::string outcome(name_of(e.outcome));
    add(outcomes, outcome, e.count);
    if (hook) delivered += e.count;
    if (hook && is_stored) stored += e.count;
    if (hook && !is_stored) add(counted, outcome + (e.reason ? ": " + *e.reason : ""), e.count);
    if (!hook && is_stored) recovered += e.count;
    if (is_stored && (e.kind == Kind::tool || e.kind == Kind::tool_failure || e.kind == Kind::stop ||
                      e.kind == Kind::stop_failure))
      work += e.count;
  }
  const store::CallCounts calls = TRY(store::count_calls(world.db, id));
  for (const auto& [outcome, count] : calls.by_outcome) {
    total += count;
    if (outcome == name_of(store::CallOutcome::waiting)) waiting = count;
  }
  const auto queue = TRY(store::queue_counts(world.db, id));
  Json files = Json::array();
  for (const store::TranscriptProgress& file : TRY(store::all_progress(world.db, id)))
    files.push(Json::object({{"path", file.path},
                             {"read_to", file.offset},
                             {"lines", file.lines},
                             {"malformed", file.malformed},
                             {"too_long", file.too_long}}));
  out.set("events_by_outcome", outcomes);
  out.set("ledger", Json::object({{"delivered", delivered},
                                  {"stored", stored},
                                  {"counted", counted},
                                  {"recovered", recovered},
                                  {"distilled", work - queue.work() - queue.failed},
                                  {"tool_calls", total},
                                  {"tool_calls_counted", counts_json(calls.by_reason)},
                                  {"gap", waiting},
                                  {"transcripts", files}}));
  return {};
}

static Result<Json> sessions_show(World& world, const Args& args) {
  const store::Session session = TRY(resolve_session(world, args.name("id")));
  Json out = session_json(session), turns = Json::array(), events = Json::array();
  TRY(add_ledger(world, session.id, out));
  for (const store::SessionTurn& turn : TRY(store::turns_of(world.db, session.id)))
    turns.push(turn_json(turn));
  out.set("turns", turns);
  if (!args.flag("events")) return out;
  for (const store::EventRow& event : TRY(store::events_of(world.db, session.id)))
    events.push(event_json(event));
  out.set("events", events);
  return out;
}

static Result<Json> sessions_end(World& world, const Args& args) {
  auto transaction = TRY(store::Transaction::begin(world.db));
  const store::Session session = TRY(resolve_session(world, args.name("id")));
  const bool was_active = session.status == store::SessionStatus::active;
  if (was_active) {
    TRY(world.intake->recorder().end(session, "by hand", world.clock.now()));
    TRY(world.intake->recorder().finish());  // distils the turns that this ended
  }
  const auto ended = TRY(store::find_session(world.db, session.id));
  TRY(transaction.commit());
  return session_json(*ended).set("changed", was_active);
}

// The built-in summary never replaces a model's.
static Result<Json> sessions_summarize(World& world, const Args& args) {
  auto transaction = TRY(store::Transaction::begin(world.db));
  const store::Session session = TRY(resolve_session(world, args.name("id")));
  TRY(world.intake->recorder().distil_again(session));
  TRY(transaction.commit());
  Json summaries = Json::array();
  for (const store::Summary& summary : TRY(store::session_summaries(world.db, session.id)))
    summaries.push(Json::object({{"id", "S" + std::to_string(summary.id)},
                                 {"prompt_number", summary.prompt_number},
                                 {"provider", summary.provider},
                                 {"request", summary.request}}));
  return Json::object({{"id", session.id.value}, {"summaries", summaries}});
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
