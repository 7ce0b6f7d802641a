// When the recorder summarises turns: at their end, when their project is asked for, and when nothing else is
// to do.
//
// Two lists say what is left. A mark in the store (store::mark_turn) says that a turn has events which its
// summary lacks; it survives a restart. changed_ has the turns that finish() summarises in this transaction.
#include <fmt/format.h>

#include "intake/recorder.h"
#include "intake/summarise.h"
#include "store/projects.h"
#include "store/retention.h"
#include "store/summaries.h"

namespace cairn::intake {

using event::Event;
using event::Kind;

// The most sessions of a project that are summarised before an answer, and the most open turns whose digests
// are made at a start. A context shows fewer.
static constexpr std::size_t kMostTurns = 16;
// The most sessions whose host is checked before an answer; the sweep each minute checks the others.
static constexpr std::size_t kMostHosts = 8;
// What may be read for that, and in one step when nothing else is to do: a few ms each.
static constexpr ReadLimit kAnswerLimit{400, 4u << 20};
static constexpr ReadLimit kStepLimit{400, 4u << 20};

// An open turn is summarised when context is composed for its project. One that has ended is summarised when
// nothing else is to do, so that several late events cost one summary; but events from a transcript at once,
// because an answer may wait for their recovery.
Status Recorder::note_change(const Event& event, const store::Turn& turn) {
  const bool is_said = event.kind == Kind::tool_start || event.kind == Kind::tool ||
                       event.kind == Kind::tool_failure || event.kind == Kind::stop ||
                       event.kind == Kind::stop_failure || event.kind == Kind::prompt;
  if (!turn.open() && !is_said) return {};  // a notification changes no summary
  if (!turn.open() && event.source == event::Source::transcript) changed_.emplace(turn.session, turn.number);
  return store::mark_turn(db_, turn.session, turn.number);
}

Status Recorder::text_added(const store::Turn& turn) {
  if (!turn.open()) changed_.emplace(turn.session, turn.number);
  return store::mark_turn(db_, turn.session, turn.number);
}

Status Recorder::distil_again(const store::Session& session) {
  for (std::int64_t number = 1; number <= session.prompt_count; ++number)
    changed_.emplace(session.id, number);
  return finish();
}

Status Recorder::finish() {
  ReadLimit all;
  return finish(all);
}

Status Recorder::finish(ReadLimit& limit) {
  TRY(write_updates());
  const auto changed = std::move(changed_);
  changed_.clear();
  for (const auto& [id, number] : changed) TRY(summarise(id, number, limit));
  secrets_.all_stored();
  return {};
}

Status Recorder::summarise(SessionId id, std::int64_t number, ReadLimit& limit) {
  const auto session = TRY(store::find_session(db_, id));
  const auto turn = TRY(store::find_turn(db_, id, number));
  // Without room for reading, the turn keeps its mark in the store and is summarised by a later step.
  if (!session || !turn || limit.reached()) return {};
  // An expired turn would get a poorer summary than the one it has: its texts are gone.
  if (turn->is_private || TRY(store::has_expired(db_, id, number)))
    return store::set_summarised(db_, id, number);
  const auto read = TRY(digests_.read(db_, *session, number, TRY(root_of(db_, *session)), limit));
  // A summary of half the turn is better than none, but not better than an earlier one. The mark stays, so
  // that the rest is read later.
  if (!read.whole && TRY(store::summary_of_turn(db_, id, number))) return {};
  const auto put = TRY(store_distilled(db_, *session, *turn, *read.digest, mode_, budget_, clock_.now()));
  if (read.whole) TRY(store::set_summarised(db_, id, number));
  if (!put) return {};
  if (const auto warning = store::warning_of(*put, budget_))
    log_.warn(fmt::format("{} session={}", *warning, session->content_id.value));
  log_.info(
      fmt::format("summary stored session={} prompt={} provider=builtin", session->content_id.value, number));
  return {};
}

Result<bool> Recorder::step() {
  // After a start (or a rollback, see read_again) no digest is in memory: prepare those of the open turns.
  if (is_first_step_) {
    for (const store::Turn& turn : TRY(store::last_open_turns(db_, kMostTurns)))
      unread_.insert({turn.session, turn.number});
    is_first_step_ = false;
  }
  if (const auto late = TRY(store::marked_ended_turn(db_))) {
    changed_.emplace(late->session, late->number);
    const auto done = summarise_chosen();
    if (done) return true;
    if (done.error().code != Code::invalid) return done.error();
    // The turn itself is the cause: it must not stop all other work.
    log_.error(fmt::format("summary session={} prompt={}: {}", late->session.value, late->number,
                           done.error().message));
    TRY(store::set_summarised(db_, late->session, late->number));
    return true;
  }
  if (!projects_with_marked_turns_.empty()) {
    const std::string project = *projects_with_marked_turns_.begin();
    projects_with_marked_turns_.erase(projects_with_marked_turns_.begin());
    TRY(choose_changed(project, ContentId{}));
    // choose_changed() may have put the project back too, when it has more sessions than one round takes.
    if (TRY(summarise_chosen())) projects_with_marked_turns_.insert(project);
    return true;
  }
  return read_ahead();
}

// Reads events of an open turn, so that its summary needs only the last ones.
Result<bool> Recorder::read_ahead() {
  while (!unread_.empty()) {
    const auto [id, number] = *unread_.begin();
    const auto session = TRY(store::find_session(db_, id));
    const auto turn = session ? TRY(store::find_turn(db_, id, number)) : std::nullopt;
    const bool wanted = turn && turn->open() && !turn->is_private;
    ReadLimit limit = kStepLimit;
    if (!wanted || TRY(digests_.read(db_, *session, number, TRY(root_of(db_, *session)), limit)).whole)
      unread_.erase({id, number});
    if (wanted) return true;
  }
  return false;
}

// Summarises the chosen turns in a transaction of its own. True: the limit was reached, there is more to
// read.
Result<bool> Recorder::summarise_chosen() {
  ReadLimit limit = kStepLimit;
  const Status done = store::in_transaction(db_, [&] { return finish(limit); });
  if (!done) discard();
  TRY(done);
  return limit.reached();
}

void Recorder::discard() {
  pending_updates_.clear();
  changed_.clear();
  secrets_.clear();
  read_again();
}

void Recorder::read_again() {
  digests_.clear();
  // The digests of open turns are made again by step().
  is_first_step_ = true;
}

void Recorder::read_again(SessionId session) {
  digests_.drop(session);
}

// The host of a session may have died since the last sweep.
Status Recorder::end_if_dead(SessionId id, const ContentId& except) {
  const auto session = TRY(store::find_session(db_, id));
  if (!session || session->content_id == except) return {};
  if (TRY(store::open_turns_of(db_, id)).empty() || !host_is_dead(*session)) return {};
  return end_dead(*session);
}

// Chooses only the sessions with the newest events before an answer, which shows no more. step() does the
// others afterwards.
Status Recorder::choose_changed(const std::string& project, const ContentId& except) {
  std::size_t chosen = 0;
  for (const std::string& name : TRY(store::scope_of(db_, project))) {
    // One more than are taken, to notice that some are left.
    const auto sessions = TRY(store::marked_sessions(db_, name, kMostTurns + 1));
    for (const SessionId id : sessions) {
      if (chosen >= kMostTurns) {
        projects_with_marked_turns_.insert(project);
        return {};
      }
      const auto session = TRY(store::find_session(db_, id));
      if (!session || session->content_id == except) continue;
      for (const store::Turn& turn : TRY(store::marked_turns(db_, id))) changed_.emplace(id, turn.number);
      ++chosen;
    }
  }
  return {};
}

Status Recorder::update_project(const std::string& project, const ContentId& except) {
  for (const std::string& name : TRY(store::scope_of(db_, project))) {
    std::set<SessionId> sessions;
    for (const auto& some : {TRY(store::active_sessions_of(db_, name, kMostHosts)),
                             TRY(store::marked_sessions(db_, name, kMostHosts))})
      sessions.insert(some.begin(), some.end());
    for (const SessionId id : sessions) TRY(end_if_dead(id, except));
  }
  TRY(finish());  // turns that end are read to their end
  TRY(choose_changed(project, except));
  ReadLimit limit = kAnswerLimit;
  TRY(finish(limit));
  // What the answer had no time for is summarised by step().
  if (limit.reached()) projects_with_marked_turns_.insert(project);
  return {};
}

}  // namespace cairn::intake
