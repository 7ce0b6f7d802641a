#include "intake/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "host/host.h"
#include "intake/place.h"
#include "intake/project_identity.h"
#include "intake/summarise.h"
#include "store/archive.h"
#include "store/continuity.h"
#include "store/evidence.h"
#include "store/forget.h"
#include "store/projects.h"
#include "store/queue.h"
#include "store/session_secrets.h"
#include "store/texts.h"
#include "store/transcripts.h"

namespace cairn::intake {

using event::Event;
using event::Kind;
using event::StartReason;
using store::EventOutcome;
using store::Session;
using store::SessionStatus;
using store::TurnEnd;

static constexpr Millis kIdleTurn = std::chrono::minutes(10);
// A session without a known process ends this long after its last event.
static constexpr Millis kUnknownHost = std::chrono::hours(24);

static std::optional<std::string> text_or_nothing(const Json& value) {
  if (value.is_null() || (value.is_object() && value.members().empty())) return std::nullopt;
  return value.dump();
}

// The tool's response as evidence. That of a failed call is its error.
static std::optional<std::string> response_text(const Event& e) {
  if (e.kind != Kind::tool_failure) return text_or_nothing(e.tool_response);
  return Json::object({{"error", e.error}, {"is_interrupt", e.interrupted}}).dump();
}

// The rest of the event, for kinds that have no column for it.
static std::optional<std::string> extra_text(const Event& e) {
  Json extra = e.extra;
  if (!e.reason.empty()) extra.set("reason", e.reason);
  if (!e.error.empty() && e.kind != Kind::tool_failure) extra.set("error", e.error);
  if (!e.last_assistant_message.empty()) extra.set("last_assistant_message", e.last_assistant_message);
  if (e.kind == Kind::prompt && e.synthetic_prompt) extra.set("prompt", e.prompt);
  return text_or_nothing(extra);
}

static store::Texts texts_of(const Event& e) {
  return {text_or_nothing(e.tool_input), response_text(e), extra_text(e)};
}

// A repeated delivery comes from the same process. An equal event from another process is a new one.
static std::string hash_of(const Event& e, const store::Texts& texts) {
  std::string all = fmt::format("{} {}\n", e.host_process.pid, e.host_process.start);
  all += e.name + '\n' + e.agent_id.value_or("") + '\n' + e.prompt;
  for (const auto& text : {&texts.input, &texts.response, &texts.extra}) all += '\n' + text->value_or("");
  return content_hash(all);
}

// What the start of a call and its end have in common, for hosts that give calls no ids.
static std::string call_hash(const Event& e) {
  return content_hash("call\n" + e.tool_name.value_or("") + "\n" + e.tool_input.dump());
}

Result<Session> Recorder::session_of(const Event& e) {
  auto known = TRY(store::find_session(db_, e.host, e.session));
  if (!known) {
    const store::Place place = resolve_place(disk_, e.project_dir, e.cwd);
    const std::string project = TRY(project_at(db_, disk_, clock_, place));
    known = TRY(
        store::create_session(db_, {e.host, e.session, project, place.branch, place.worktree, e.cwd, e.at}));
    // True of every new session, and logged so that this state can be searched for.
    log_.info(
        fmt::format("session created session={} project={} memory=none queue_depth=0 provider_running=no",
                    e.session.value, project));
  }
  // A session that was imported from its transcript goes on: from here on hooks deliver it.
  if (known->imported && e.source != event::Source::transcript)
    TRY(store::set_imported(db_, known->id, false));
  const auto update = pending_updates_.find(known->id);
  // The path in `known` is old until write_updates(): without this check every event of a group would write
  // it.
  const bool is_noted =
      update != pending_updates_.end() && update->second.transcript_path == e.transcript_path;
  if (!e.transcript_path.empty() && e.transcript_path != known->transcript_path && !is_noted)
    TRY(store::note_transcript(db_, known->id, e.transcript_path));
  note_update(known->id, e);
  return *std::move(known);
}

void Recorder::note_update(SessionId session, const Event& e) {
  store::SessionUpdate& update = pending_updates_[session];
  update.at = std::max(update.at, e.at);
  if (!e.cwd.empty()) update.cwd = e.cwd;
  if (!e.transcript_path.empty()) update.transcript_path = e.transcript_path;
  if (e.host_process.pid == 0) return;
  update.host = e.host_process;
  update.boot_id = e.boot_id;
}

Status Recorder::write_updates() {
  for (const auto& [session, update] : std::exchange(pending_updates_, {}))
    TRY(store::touch_session(db_, session, update));
  return {};
}

Result<std::int64_t> Recorder::open_turn(const Session& session, WallTime at) {
  const std::int64_t number = TRY(store::open_turn(db_, session.id, at)).number;
  digests_.begin(session, number, TRY(root_of(db_, session)));
  return number;
}

// The turn of the event: that of its prompt id, else the latest. A tool call or an answer with an unknown
// prompt id, or before any turn, opens a new one.
Result<std::optional<std::int64_t>> Recorder::turn_for(const Event& e, const Session& session) {
  if (e.prompt_id)
    if (auto number = TRY(store::turn_of_prompt(db_, session.id, *e.prompt_id))) return number;
  const bool is_work = e.kind == Kind::tool_start || e.kind == Kind::tool || e.kind == Kind::tool_failure ||
                       e.kind == Kind::stop || e.kind == Kind::stop_failure;
  const auto latest = TRY(store::latest_turn(db_, session.id));
  // A notification opens no turn. Without a prompt id only the order of events tells the turn.
  if (!is_work || (latest && !e.prompt_id)) return latest ? std::optional(latest->number) : std::nullopt;
  TRY(close_open_turn(session.id, TurnEnd::next_prompt, e.at));
  const std::int64_t opened = TRY(open_turn(session, e.at));
  if (e.prompt_id) TRY(store::name_turn(db_, session.id, opened, *e.prompt_id));
  return std::optional(opened);
}

Result<std::variant<gate::Gate::Passed, gate::Refusal>> Recorder::pass(const gate::Gate& gate,
                                                                       event::Event event,
                                                                       std::size_t max_field) {
  const std::string session = gate.id(event.session.value);
  const gate::KnownSecrets* known = TRY(secrets_.of(session));
  auto verdict = gate.pass(std::move(event), max_field, known);
  if (const auto* passed = std::get_if<gate::Gate::Passed>(&verdict)) secrets_.add(session, passed->learned);
  return verdict;
}

Status Recorder::record(const gate::Gate::Passed& passed, bool more) {
  TRY(record_event(passed));
  return more ? Status() : write_updates();
}

Status Recorder::record_event(const gate::Gate::Passed& passed) {
  const event::CleanEvent& event = passed.event;
  const WallTime now = clock_.now();
  // The model that cairn itself runs has hooks too: storing its sessions would distil the distiller.
  if (TRY(store::is_memory_id(db_, event->session))) return count_own_agent(*event);
  const Session session = TRY(session_of(*event));
  for (const gate::KnownSecret& secret : passed.learned)
    TRY(store::add_session_secret(db_, session.id, {secret.hash, secret.begin, secret.length}));
  store::Counted counted{
      event->id, event->name,  event::kind_name(event->kind), EventOutcome::skipped, "", session.id, {},
      event->at, event->source};

  // The host runs a compaction as a subagent without a type: it is not part of the work.
  if (event->kind == Kind::subagent_stop && event->agent_type.value_or("").empty()) {
    counted.reason = "compaction's own " + event->name;
    return store::record_counted(db_, counted, now);
  }
  // The end of a call without an id: its start is found by its input.
  const bool ends_call = event->pairs_by_input && event->kind != Kind::tool_start;
  const store::Texts texts = texts_of(*event);
  store::Placement placement{session.id, std::nullopt,
                             event->pairs_by_input && !ends_call ? call_hash(*event) : hash_of(*event, texts),
                             std::nullopt};
  // Resume and end may follow each other within seconds: an event that changes the session's status is never
  // a duplicate.
  const bool was_active = session.status == SessionStatus::active;
  const bool changes_status =
      (event->kind == Kind::session_start && !was_active) || (event->kind == Kind::session_end && was_active);
  if (!changes_status && TRY(store::is_duplicate(db_, event, placement))) {
    counted.outcome = EventOutcome::duplicate;
    counted.reason = event->tool_use_id ? "same tool use" : "same payload within 5 s";
    return store::record_counted(db_, counted, now);
  }
  // After the check for duplicates: a duplicate must not end another call with the same input.
  if (ends_call) placement.tool_use_id = TRY(store::open_call(db_, session.id, call_hash(*event)));
  if (event->kind == Kind::session_start) TRY(on_session_start(*event, session));
  // The agent may have made its directory a repository, or its first commit.
  const bool is_end = event->kind == Kind::stop || event->kind == Kind::session_end;
  if (is_end || event->kind == Kind::session_start) TRY(store::set_due(db_, session.project));
  // A prompt opens its turn before its own event is stored, so that the event belongs to it.
  placement.prompt_number = event->kind == Kind::prompt ? TRY(on_prompt(*event, session, passed.is_private))
                                                        : TRY(turn_for(*event, session));
  if (placement.prompt_number) {
    const auto turn = TRY(store::find_turn(db_, session.id, *placement.prompt_number));
    TRY(store::touch_turn(db_, session.id, *placement.prompt_number, event->at));
    // The start and end of a session are stored even when the turn is private.
    const bool is_of_session = event->kind == Kind::session_start || event->kind == Kind::session_end;
    if (turn && turn->is_private && !is_of_session) {
      counted.outcome = EventOutcome::private_turn;
      counted.reason = "its prompt is private";
      counted.prompt_number = placement.prompt_number;
      TRY(store::record_counted(db_, counted, now));
      // A private turn ends like any other, but without its texts.
      return event->kind == Kind::stop || event->kind == Kind::stop_failure
                 ? on_stop(*event, session, placement.prompt_number, true)
                 : Status();
    }
    if (turn) TRY(note_change(*event, *turn));
  }
  // Everything below needs the event's number: evidence, queue and digest refer to it.
  const std::int64_t seq = TRY(store::record_stored(db_, event, placement, now));
  TRY(keep(event, session, seq, placement.prompt_number, texts));
  add_to_digest(event, placement, seq, texts);
  TRY(note_continuity(*event, session));
  if (event->kind == Kind::stop || event->kind == Kind::stop_failure)
    return on_stop(*event, session, placement.prompt_number, false);
  if (event->kind == Kind::compact_start)
    return request_backup(session, store::BackupCause::compaction, event->reason);
  if (event->kind == Kind::session_end) {
    TRY(on_session_end(*event, session));
    TRY(request_document(session, store::DocumentCause::end));
    return request_backup(session, store::BackupCause::end, event->reason);
  }
  return {};
}

Status Recorder::note_continuity(const Event& event, const Session& session) {
  // After a compaction the context is small again: the user may be warned again when it gets full.
  if (event.kind == Kind::compact_start) return store::set_window_reported(db_, session.id, false);
  if (event.kind == Kind::session_start && event.start_reason == StartReason::compact)
    return request_document(session, store::DocumentCause::compaction);
  if (event.kind != Kind::other) return {};
  const std::string file = host::find_host(event.host).loaded_instructions(event);
  return file.empty() ? Status() : store::note_instruction_file(db_, session.id, file);
}

Status Recorder::request_document(const Session& session, store::DocumentCause cause) {
  return automatic_ ? store::request_document(db_, session.id, cause, clock_.now()) : Status();
}

Status Recorder::correct_to_failure(SessionId session, const std::string& tool_use_id,
                                    const std::string& error) {
  const std::string response = Json::object({{"error", error}, {"is_interrupt", false}}).dump();
  const auto turn = TRY(store::correct_to_failure(db_, session, tool_use_id, response));
  if (!turn) return {};
  // The digest has counted the call as a success; a step cannot be removed from it.
  digests_.drop(session, *turn);
  changed_.emplace(session, *turn);
  return {};
}

// The archive copies the transcript as soon as the inbox is empty (Engine::step).
Status Recorder::request_backup(const Session& session, store::BackupCause cause, std::string_view reason) {
  TRY(write_updates());  // stores the transcript's path, which is read next
  const auto known = TRY(store::find_session(db_, session.id));
  const std::string& path = known ? known->transcript_path : session.transcript_path;
  if (path.empty()) return {};
  const WallTime now = clock_.now();
  return store::request_backup(
      db_,
      {0, session.platform, session.content_id.value, path, cause, std::string(reason), now, now, 0, {}});
}

Status Recorder::count_own_agent(const Event& e) {
  return store::record_counted(db_,
                               {e.id,
                                e.name,
                                event::kind_name(e.kind),
                                EventOutcome::own_agent,
                                "memory agent's own session",
                                {},
                                {},
                                e.at},
                               clock_.now());
}

// A refused event creates no session: where it happened is private too.
Status Recorder::refuse(const Event& event, const gate::Refusal& refusal) {
  if (TRY(store::is_memory_id(db_, event.session))) return count_own_agent(event);
  const EventOutcome outcome = store::named<EventOutcome>(refusal.outcome).value_or(EventOutcome::skipped);
  store::Counted counted{event.id, event.name, event::kind_name(event.kind), outcome, refusal.reason, {},
                         {},       event.at};
  if (const auto session = TRY(store::find_session(db_, event.host, event.session))) {
    counted.session = session->id;
    TRY(store::touch_session(db_, session->id,
                             {event.at, "", event.transcript_path, event.host_process, event.boot_id}));
    if (event.tool_use_id) {
      TRY(store::forget_start(db_, session->id, *event.tool_use_id, refusal.reason));
      digests_.drop(session->id);
    }
  }
  return store::record_counted(db_, counted, clock_.now());
}

// The texts of every event become evidence. Tool results and the ends of turns also get a row in the queue.
Status Recorder::keep(const event::CleanEvent& e, const Session& session, std::int64_t seq,
                      std::optional<std::int64_t> number, const store::Texts& texts) {
  const bool is_tool = e->kind == Kind::tool || e->kind == Kind::tool_failure;
  const bool is_end = e->kind == Kind::stop || e->kind == Kind::stop_failure;
  if (!is_tool && !is_end) return store::keep_evidence(db_, seq, session.id, texts, e->at);
  store::NewMessage message;
  message.event_seq = seq;
  message.session = session.id;
  message.content_id = session.content_id;
  message.type = is_tool ? "observation" : "summarize";
  message.tool_name = e->tool_name;
  message.texts = texts;
  message.cwd = e->cwd;
  message.prompt_number = number;
  message.created_at = e->at;
  if (is_end && number) message.last_user_message = TRY(store::prompt_text(db_, session.id, *number));
  if (is_end) message.last_assistant_message = e->last_assistant_message;
  TRY(store::enqueue(db_, message));
  return {};
}

// Adds the event to the turn's digest while its texts are in memory. Without a digest they are read later.
void Recorder::add_to_digest(const event::CleanEvent& e, const store::Placement& placement, std::int64_t seq,
                             const store::Texts& texts) {
  if (!placement.prompt_number) return;
  TurnDigest* digest = digests_.whole(placement.session, *placement.prompt_number);
  if (!digest) {
    unread_.insert({placement.session, *placement.prompt_number});
    return;
  }
  const auto& use = placement.tool_use_id ? placement.tool_use_id : e->tool_use_id;
  digest->add(e->kind, use.value_or(""), bytes_of(texts), step_of(*e, seq));
}

Status Recorder::on_session_start(const Event& e, const Session& session) {
  TRY(store::reopen_session(db_, session.id));
  // A compaction happens within a turn: it stays open.
  if (e.start_reason == StartReason::compact) return {};
  // A new host process continues this session: the turn that the old process had open has ended.
  TRY(close_open_turn(session.id, TurnEnd::session_start, e.at));
  return store::set_branch(db_, session.id, current_branch(disk_, e.cwd));
}

Result<std::optional<std::int64_t>> Recorder::on_prompt(const Event& e, const Session& session,
                                                        bool is_private) {
  // An event from a transcript is in the past: it does not reopen its session.
  if (e.source != event::Source::transcript) TRY(store::reopen_session(db_, session.id));
  // A prompt id always means the same turn. An event that overtook its prompt may have opened it already.
  std::optional<std::int64_t> number;
  if (e.prompt_id) number = TRY(store::turn_of_prompt(db_, session.id, *e.prompt_id));
  if (!number) {
    const auto latest = TRY(store::latest_turn(db_, session.id));
    if (e.synthetic_prompt && latest) {  // the host continues the turn that started the background task
      number = latest->number;
      TRY(store::reopen_turn(db_, session.id, *number));
    } else {
      TRY(close_open_turn(session.id, TurnEnd::next_prompt, e.at));
      number = TRY(open_turn(session, e.at));
    }
    if (e.prompt_id) TRY(store::name_turn(db_, session.id, *number, *e.prompt_id));
  }
  if (e.synthetic_prompt) return number;  // not a request of the user
  if (is_private) {
    // Events that overtook the prompt may be stored already.
    TRY(store::forget_turn(db_, session.id, *number));
    digests_.drop(session.id, *number);
  }
  if (!is_private && !TRY(store::has_prompt(db_, session.id, *number)))
    TRY(store::add_prompt(db_, session.id, *number, e.prompt, e.at));
  return number;
}

// Why the model's service failed: the host's name for the error, else its message.
static std::string failure_of(const Event& e) {
  if (!e.error.empty() && e.error != "unknown") return e.error;
  return e.last_assistant_message.empty() ? "unknown" : e.last_assistant_message;
}

static store::TextSource source_of_texts(const Event& e) {
  return e.source == event::Source::hook ? store::TextSource::hook : store::TextSource::transcript;
}

Status Recorder::on_stop(const Event& e, const Session& session, std::optional<std::int64_t> number,
                         bool is_private) {
  if (!number) return {};
  log_.info(fmt::format("finalize received session={} prompt={} event={}", session.content_id.value, *number,
                        e.name));
  const bool failed = e.kind == Kind::stop_failure;
  if (!is_private && !failed && !trim(e.last_assistant_message).empty()) {
    store::Text answer;
    answer.session = session.id;
    answer.prompt_number = *number;
    answer.kind = store::TextKind::answer;
    answer.text = trim(e.last_assistant_message);
    answer.source = source_of_texts(e);
    answer.at = e.at;
    TRY(store::add_text(db_, answer));
  }
  if (!is_private)
    TRY(store::set_turn_end_texts(db_, session.id, *number, failed ? "" : e.last_assistant_message,
                                  failed ? failure_of(e) : ""));
  TRY(close(session.id, *number, failed ? TurnEnd::stop_failure : TurnEnd::stop, e.at));
  // The stop may arrive after the session's end, which then counted the turn as unanswered.
  return store::update_status(db_, session.id);
}

Status Recorder::on_session_end(const Event& e, const Session& session) {
  if (session.status != SessionStatus::active) return {};
  return end(session, e.reason.empty() ? "other" : e.reason, e.at);
}

Status Recorder::end(const Session& session, std::string_view reason, WallTime at) {
  TRY(close_open_turn(session.id, TurnEnd::session_end, at));
  TRY(store::end_session(db_, session.id, reason, at));
  log_.info(fmt::format("session ended session={} reason={}", session.content_id.value, reason));
  return {};
}

Status Recorder::close(SessionId session, std::int64_t number, TurnEnd reason, WallTime at) {
  TRY(store::end_turn(db_, session, number, reason, at));
  changed_.emplace(session, number);
  return {};
}

Status Recorder::close_open_turn(SessionId session, TurnEnd reason, WallTime at) {
  const auto latest = TRY(store::latest_turn(db_, session));
  if (latest && latest->open()) return close(session, latest->number, reason, at);
  return {};
}

bool Recorder::host_is_dead(const Session& session) {
  if (session.host.pid == 0) return clock_.now() - session.last_event_at > kUnknownHost;
  // No process survives a reboot, though another may have the same pid and start time after it.
  if (!session.host_boot_id.empty() && session.host_boot_id != clock_.boot_id()) return true;
  return !processes_.alive(session.host);
}

// The last event is the best known time of death: the clock may say hours later, after a suspend.
Status Recorder::end_dead(const Session& session) {
  for (const store::Turn& turn : TRY(store::open_turns_of(db_, session.id)))
    TRY(close(session.id, turn.number, TurnEnd::dead_host, turn.last_event_at));
  // A late event may have opened a turn in a session that had ended, for another reason.
  if (session.status != SessionStatus::active) return store::update_status(db_, session.id);
  TRY(store::end_session(db_, session.id, "dead_host", session.last_event_at));
  TRY(request_document(session, store::DocumentCause::end));
  TRY(request_backup(session, store::BackupCause::end, "dead_host"));
  log_.info(fmt::format("session ended session={} reason=dead_host", session.content_id.value));
  return {};
}

Status Recorder::sweep() {
  const WallTime now = clock_.now();
  for (const Session& session : TRY(store::active_sessions(db_)))
    if (host_is_dead(session)) TRY(end_dead(session));
  for (const store::Turn& turn : TRY(store::open_turns(db_)))
    if (now - turn.last_event_at > kIdleTurn)
      TRY(close(turn.session, turn.number, TurnEnd::idle, turn.last_event_at));
  return finish();
}

Status Recorder::end_open_turns() {
  for (const store::Turn& turn : TRY(store::open_turns(db_)))
    TRY(close(turn.session, turn.number, TurnEnd::process, clock_.now()));
  return finish();
}

}  // namespace cairn::intake
