// Answers to hooks: what is read and stored before one, and what is made durable after it.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/engine.h"
#include "hook/control.h"
#include "ops/agent.h"
#include "store/archive.h"
#include "store/budget.h"
#include "store/events.h"
#include "store/meta.h"
#include "store/project_links.h"
#include "store/projects.h"
#include "store/receipts.h"

namespace cairn::daemon {

// The time that the start of a session may spend on transcripts of dead sessions. The rest is read after the
// answer.
static constexpr std::int64_t kCatchUpNs = 300'000'000;
// Answers whose warnings are remembered until their hook confirms them. Most are confirmed at once; those of
// hooks that died must not add up. A warning that is dropped here is shown again.
static constexpr std::size_t kUnconfirmed = 100;

// Warnings to show once: counts that have grown since the user was last warned. They are marked as shown when
// the answer is confirmed.
Result<std::vector<std::string>> Engine::warnings(Warned& warned) {
  std::vector<std::string> list;
  const auto warn = [&](std::string_view key, std::int64_t count, std::string_view one,
                        std::string_view many) -> Status {
    const std::int64_t before = TRY(store::meta_number(db_, key)).value_or(0);
    if (count <= before) return {};
    const std::int64_t more = count - before;
    list.push_back(fmt::format("{} {}: see `cairn status`", more, more == 1 ? one : many));
    warned.emplace_back(key, count);
    return {};
  };
  const auto unwritten = TRY(store::meta_number(db_, store::kFailedDeliveries));
  TRY(warn(store::kFailedDeliveriesReported, unwritten.value_or(0), "event could not be written",
           "events could not be written"));
  TRY(warn(store::kBadReported, TRY(store::count_bad(db_)), "event could not be read",
           "events could not be read"));
  const auto damages = TRY(store::meta_number(db_, store::kDamages));
  TRY(warn(store::kDamagesReported, damages.value_or(0), "damage of the store was found",
           "damages of the store were found"));
  TRY(warn(store::kBackupsFailedReported, TRY(store::failures_so_far(db_)), "backup of a transcript failed",
           "backups of transcripts failed"));
  TRY(warn(store::kSessionsNearLimitReported, TRY(store::sessions_near_limit(db_)),
           "session came near its limit of observations", "sessions came near their limit of observations"));
  return list;
}

// Says once that the project moved, was linked, or resembles another one.
Status Engine::add_identity_news(const std::string& name, std::vector<std::string>& lines, Warned& warned) {
  const auto project = TRY(store::project_by_name(db_, name));
  if (!project) return {};
  const std::string key = fmt::format("{}{}", store::kProjectHistoryReported, project->id);
  const auto last = TRY(store::meta_number(db_, key)).value_or(0);
  const auto news = TRY(store::identity_news(db_, *project, last));
  if (news.lines.empty()) return {};
  lines.insert(lines.end(), news.lines.begin(), news.lines.end());
  warned.emplace_back(key, news.last);
  return {};
}

Result<std::optional<context::Answer>> Engine::help(const EventId& event) {
  context::HelpOptions options;
  options.key = key_;
  options.on_compact = settings_.flag("context.on_compact");
  options.on_failure = settings_.flag("context.on_failure");
  options.on_prompt = settings_.flag("context.on_prompt");
  options.on_subagent = settings_.flag("context.on_subagent");
  std::optional<context::Answer> answer;
  TRY(in_transaction([&]() -> Status {
    answer = TRY(context::help(db_, event, options, seams_.clock.now()));
    return {};
  }));
  return answer;
}

// The answer need not wait for the disk: the event is safe in the inbox, and its hook waits.
Result<context::Answer> Engine::answer(const EventId& event, std::int64_t deadline) {
  return without_waiting([&] { return find_answer(event, deadline); });
}

// In this order:
//   1. Store the event: read the inbox until it is there, near the deadline only what it needs.
//   2. Find what is due to it. Most events get help with the work at hand, or a warning, or nothing.
//   3. Bring the project up to date: failures, summaries of open turns, dead sessions.
//   4. Compose the context and write the receipt, in one transaction.
Result<context::Answer> Engine::find_answer(const EventId& event, std::int64_t deadline) {
  const context::Answer nothing{std::string(hook::kFixedAnswer), std::nullopt, 0};
  if (!is_event_id(event.value)) return nothing;  // the id is used as a file name
  while (!TRY(store::is_recorded(db_, event)) && seams_.clock.boot_ns() < deadline)
    if (!TRY(read_inbox())) break;
  if (!TRY(store::is_recorded(db_, event)))
    TRY(intake_.take_now(event));  // the other waiting events are read after the answer
  const auto due = TRY(context::due_to(db_, event));
  if (!due) {
    if (auto given = TRY(help(event))) return *given;
    return warn_of_full_context(event);
  }
  context::AnswerOptions options = answer_options();
  // Leave out the session's own open turn: the model still has it in its conversation, except after a
  // compaction.
  const bool compacted = due->reason == event::StartReason::compact && due->start == event;
  const auto session = TRY(store::find_session(db_, due->session));
  TRY(in_transaction([&]() -> Status {
    TRY(note_failures());
    if (!session) return {};
    return intake_.recorder().update_project(session->project, compacted ? ContentId{} : session->content_id);
  }));
  const bool is_start = session && due->start == event;
  if (is_start) catch_up(session->project, deadline);
  context::Answer answer;
  Warned warned;
  Start start;
  if (is_start) start = begin_start(*session, due->reason, options);
  TRY(in_transaction([&]() -> Status {
    std::vector<std::string> lines = TRY(warnings(warned));
    if (session && options.notice) TRY(add_identity_news(session->project, lines, warned));
    if (options.notice) lines.insert(lines.end(), start.lines.begin(), start.lines.end());
    if (options.notice) warned.insert(warned.end(), start.warned.begin(), start.warned.end());
    if (due->start == event)
      for (std::string& problem : TRY(ops::agent_problems(db_, settings_, seams_.clock.now())))
        lines.push_back(std::move(problem));
    answer = TRY(context::answer(db_, *due, options, std::move(lines), seams_.clock.now()));
    return {};
  }));
  if (answer.overhead_kb > 0) warned.emplace_back(start.overhead_key, answer.overhead_kb);
  if (is_start) write_variables(event, *session, start);
  // Noted only when the hook has printed the answer (confirm): a warning that was not shown is repeated.
  if (answer.receipt && !warned.empty()) unconfirmed_[*answer.receipt] = std::move(warned);
  if (unconfirmed_.size() > kUnconfirmed) unconfirmed_.erase(unconfirmed_.begin());
  return answer;
}

// Recovers events of the project's dead sessions from transcripts, within the deadline of the answer.
void Engine::catch_up(const std::string& project, std::int64_t deadline) {
  const std::int64_t until = std::min(seams_.clock.boot_ns() + kCatchUpNs, deadline);
  if (auto found = catch_up_.find_lost(); !found) seams_.log.error(found.error().message);
  if (auto done = catch_up_.recover_project(project, until); !done) seams_.log.error(done.error().message);
}

Status Engine::confirm(std::int64_t receipt) {
  TRY(without_waiting([&] {
    return in_transaction([&]() -> Status {
      TRY(store::confirm_receipt(db_, receipt, seams_.clock.now()));
      const auto warned = unconfirmed_.find(receipt);
      if (warned == unconfirmed_.end()) return {};
      // Confirmations may come in another order than their answers: a smaller count replaces no larger one.
      for (const auto& [key, count] : warned->second) TRY(store::raise_meta(db_, key, count));
      return {};
    });
  }));
  unconfirmed_.erase(receipt);
  return sync();
}

Status Engine::sync() {
  if (!unsynced_) return {};
  TRY(db_.sync());
  // Only after the sync: until then the files are what a power cut leaves of these events.
  unsynced_ = false;
  intake_.remove_held();
  return {};
}

}  // namespace cairn::daemon
