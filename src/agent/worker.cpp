#include "agent/worker.h"

#include <fmt/format.h>

#include <algorithm>

#include "event/provider_name.h"
#include "host/quota.h"
#include "store/queue_admin.h"
#include "store/retention.h"
#include "store/turns.h"

namespace cairn::agent {

// How the worker works: step() first lets every conversation advance (worker_reply.cpp), then begins one
// piece of new work: begin() claims a batch or takes a turn of the backlog, and sends it (worker_send.cpp).
// Work that needs no provider ends in the same step. The worker never waits: wake_at() says when step() is
// due again.

// Turns that a person adds are announced with look_again(). This finds the others, such as turns that became
// backlog because the budget allowed no call.
static constexpr Millis kLookAgain = std::chrono::minutes(10);

store::ModelCallOutcome outcome_of(Trouble::Kind kind) {
  using store::ModelCallOutcome;
  switch (kind) {
    case Trouble::Kind::transient: return ModelCallOutcome::transient;
    case Trouble::Kind::rate_limited: return ModelCallOutcome::rate_limited;
    case Trouble::Kind::quota: return ModelCallOutcome::quota;
    case Trouble::Kind::auth: return ModelCallOutcome::auth;
    case Trouble::Kind::setup: return ModelCallOutcome::setup;
    case Trouble::Kind::rejected: return ModelCallOutcome::rejected;
    case Trouble::Kind::canceled: return ModelCallOutcome::canceled;
  }
  return ModelCallOutcome::transient;
}

std::string_view kind_name(Trouble::Kind kind) {
  return store::name_of(outcome_of(kind));
}

std::int64_t Worker::after(Millis time) const {
  return clock_.boot_ns() + std::chrono::nanoseconds(time).count();
}

Status Worker::start() {
  std::int64_t lost = 0;
  TRY(store::in_transaction(db_, [&]() -> Status {
    lost = TRY(store::end_lost_calls(db_));
    // With a provider the trouble stays until a call succeeds: people still need to see it.
    if (!provider_) TRY(store::clear_agent_trouble(db_));
    return {};
  }));
  if (lost > 0) log_.warn(fmt::format("{} calls of the model were not finished by the last daemon", lost));
  return {};
}

Status Worker::use(Provider* provider) {
  TRY(stop());
  provider_ = provider;
  breaker_.reset();
  may_resume_.clear();
  refused_.clear();
  look_at_ = 0;
  retry_at_ = 0;
  return store::clear_agent_trouble(db_);
}

Result<bool> Worker::step() {
  const auto is_over = [](const auto& dialog) { return dialog.second.over; };
  bool did = false;
  for (auto& [session, dialog] : dialogs_)
    if (!dialog.over) did |= TRY(advance(session, dialog));
  std::erase_if(dialogs_, is_over);
  // ended_here_ holds one claimed batch: it must be ended before another is claimed.
  if (ended_here_) return finish_ended_here();
  const bool begun = TRY(begin());  // start new batches even while one conversation is chatty
  return did || begun;
}

std::optional<std::int64_t> Worker::wake_at() const {
  std::optional<std::int64_t> at = retry_at_;
  const auto sooner = [&](std::int64_t time) { at = std::min(at.value_or(time), time); };
  for (const auto& [session, dialog] : dialogs_) {
    if (!dialog.sent) {
      sooner(dialog.used_at + std::chrono::nanoseconds(options_.idle).count());
      continue;
    }
    sooner(dialog.sent->beat_at);
    sooner(dialog.sent->reply ? dialog.sent->try_at : dialog.sent->deadline);
  }
  return at;
}

bool Worker::awaits() const {
  return calls() > 0;
}

std::size_t Worker::calls() const {
  return static_cast<std::size_t>(std::count_if(
      dialogs_.begin(), dialogs_.end(), [](const auto& dialog) { return dialog.second.sent.has_value(); }));
}

// Begins the next piece of work: a batch of the queue, else a turn that is to be distilled again.
Result<bool> Worker::begin() {
  const std::int64_t now = clock_.boot_ns();
  // retry_at_ is reset here, and set again below or in claim_batch() if something still waits: otherwise
  // wake_at() would always name a time in the past.
  const bool due = retry_at_ && *retry_at_ <= now;
  if (due) retry_at_.reset();
  bool may_call = provider_ != nullptr;
  if (provider_) {
    TRY(pause_after_host_refusal());
    may_call = breaker_.allows(now, calls());
    if (may_call && calls() >= options_.max_concurrent) return false;
    // During the pause of an open breaker the built-in distiller ends the batches. When the pause is over
    // and the probe is under way, they wait for its result.
    const bool instead = breaker_.open() && options_.fallback && now < breaker_.pause_until();
    if (!may_call && !instead) {
      if (now < breaker_.pause_until()) retry_at_ = breaker_.pause_until();
      return false;
    }
  }
  if (TRY(claim_batch(may_call, due))) return true;
  if (provider_ && !may_call && !retry_at_) retry_at_ = breaker_.pause_until();
  return begin_redistil(may_call);
}

// Without a provider a batch needs nothing but its end: many of them are ended in one transaction, so that a
// page which they share is written once. Returns the number of messages. Zero: there was none, or it failed;
// then the batches are ended one by one.
std::size_t Worker::end_batches() {
  constexpr std::size_t kMessages = 512;  // some milliseconds
  std::size_t ended = 0;
  const auto done = store::in_transaction(db_, [&]() -> Status {
    while (ended < kMessages) {
      const auto batch =
          TRY(store::claim(db_, clock_.now(), {.max = options_.max_events, .lease = options_.lease}));
      if (!batch) break;
      TRY(store::complete(db_, *batch, clock_.now()));
      ended += batch->messages.size();
    }
    return {};
  });
  if (!done) return 0;
  processed_ += static_cast<std::int64_t>(ended);
  return ended;
}

// Claims the next batch. One that needs no provider is finished at once.
Result<bool> Worker::claim_batch(bool may_call, bool due) {
  if (!provider_ && end_batches() > 0) {
    if (due) retry_at_ = clock_.boot_ns();  // other batches may be due too
    return true;
  }
  store::Gather gather{.max = options_.max_events, .lease = options_.lease};
  if (may_call)
    gather = {options_.batch_events, options_.batch_bytes, options_.lease,
              hurry_ ? Millis(0) : options_.batch_wait};
  std::optional<store::Batch> claimed;
  bool used_up = false, finished = false;
  auto done = store::in_transaction(db_, [&]() -> Status {
    claimed = TRY(store::claim(db_, clock_.now(), gather));
    if (!claimed) return {};
    // A session with all the observations that it may have gets no more calls, now or from the backlog.
    used_up = TRY(store::is_used_up(db_, claimed->session, options_.budget));
    if (may_call && !used_up) return {};
    // Claim and end are one transaction, so that each row is written once. When ending fails, the savepoint
    // undoes only that: the claim is committed, and finish_ended_here() tries again.
    ended_here_ = {*claimed, provider_ != nullptr && !used_up};
    auto savepoint = TRY(store::Savepoint::begin(db_));
    if (!store_ended_here()) return {};
    finished = true;
    return savepoint.commit();
  });
  if (!done) {
    ended_here_.reset();
    if (due) retry_at_ = clock_.boot_ns();
    return std::move(done).error().in("queue");
  }
  if (!claimed) {
    hurry_ = false;
    const bool waits = gather.wait > Millis(0) && !retry_at_;
    if (due || waits) retry_at_ = TRY(next_due(waits));
    return false;
  }
  if (due) retry_at_ = clock_.boot_ns();  // other batches may be due too
  if (may_call && !used_up) {
    TRY(send_batch(*std::move(claimed)));
    return true;
  }
  if (!finished) return finish_ended_here();
  note_finished();
  return true;
}

// When the next message that waits for a retry, or for more messages, is due (boot ns).
Result<std::optional<std::int64_t>> Worker::next_due(bool waits) {
  const WallTime now = clock_.now();
  std::optional<Millis> next;
  if (const auto at = TRY(store::next_retry(db_, now))) next = std::min<Millis>(*at - now, options_.idle);
  if (waits && TRY(store::queue_counts(db_)).pending > 0)
    next = std::min(next.value_or(options_.batch_wait), options_.batch_wait);
  return next ? std::optional(after(*next)) : std::nullopt;
}

// The host's own sessions and a provider with the host's login share a quota: after the host was refused, the
// provider is not called for a while.
Status Worker::pause_after_host_refusal() {
  if (provider_->name() != host::kLoginProvider) return {};
  // An older refusal would not delay a call: no pause below is longer.
  constexpr Millis kRecent = std::chrono::minutes(30);
  const WallTime now = clock_.now(), since = std::max(host_failed_at_.value_or(WallTime()), now - kRecent);
  const auto failed = TRY(store::last_failed_turn(db_, since));
  if (!failed || !failed->ended_at) return {};
  host_failed_at_ = *failed->ended_at;
  using Kind = Trouble::Kind;
  const host::Refusal refusal = host::refusal_of(failed->failure);
  if (refusal == host::Refusal::none) return {};
  const bool brief = refusal == host::Refusal::rate_limit;
  Trouble trouble{brief                               ? Kind::rate_limited
                  : refusal == host::Refusal::billing ? Kind::quota
                                                      : Kind::auth,
                  "your own session was refused: " + failed->failure,
                  *failed->ended_at + (brief ? std::chrono::minutes(5) : std::chrono::minutes(30)),
                  {}};
  return *trouble.until > now ? note_trouble(trouble, count_trouble(trouble)) : Status();
}

Status Worker::store_ended_here() {
  const store::Batch& batch = ended_here_->batch;
  if (ended_here_->backlog) TRY(store::want_backlog(db_, batch, provider_->name(), clock_.now()));
  return store::complete(db_, batch, clock_.now());
}

void Worker::note_finished() {
  processed_ += static_cast<std::int64_t>(ended_here_->batch.messages.size());
  ended_here_.reset();
}

// Ends a batch that needs no provider. When the store cannot be written, the batch stays claimed and is tried
// again: the messages did not cause the error.
Result<bool> Worker::finish_ended_here() {
  const store::Batch& batch = ended_here_->batch;
  auto done = store::in_transaction(db_, [&] { return store_ended_here(); });
  if (done) {
    note_finished();
    return true;
  }
  const Code code = done.error().code;
  if (code == Code::canceled || code == Code::invalid) {
    // Messages were removed from the batch, or one is invalid: return what is left to the queue.
    TRY(return_batch(batch, done.error().message, code == Code::invalid, Millis(0)));
    ended_here_.reset();
  }
  return std::move(done).error().in("queue");
}

// Begins a turn that is to be distilled from its evidence, when the queue has nothing for now.
Result<bool> Worker::begin_redistil(bool may_call) {
  if (clock_.boot_ns() < look_at_) return false;
  if (TRY(redistil_builtin())) return true;
  if (may_call) {
    std::vector<SessionId> busy;
    for (const auto& [session, dialog] : dialogs_)
      if (dialog.sent) busy.push_back(session);
    const auto turn =
        TRY(store::next_redistil(db_, provider_->name(), clock_.now() - options_.backlog_age, busy, true));
    if (turn) {
      TRY(send_turn(*turn));
      return true;
    }
    // Only when no session is skipped is it certain that nothing is left for the provider.
    if (busy.empty()) {
      TRY(store::in_transaction(db_, [&]() -> Status {
        TRY(store::drop_old_backlog(db_, clock_.now() - options_.backlog_age));
        return {};
      }));
    } else {
      return false;
    }
  } else if (provider_) {
    return false;  // there is more to do when it works again
  }
  look_at_ = after(kLookAgain);
  return false;
}

// Distils one turn again with the built-in distiller. False: none is wanted.
Result<bool> Worker::redistil_builtin() {
  const auto wanted = TRY(store::next_redistil(db_, event::kBuiltin, WallTime(), {}, true));
  if (!wanted) return false;
  const auto session = TRY(store::find_session(db_, wanted->session));
  const auto turn = TRY(store::find_turn(db_, wanted->session, wanted->number));
  // The archive is read before the transaction begins: reading may take long, and a transaction is short.
  std::map<std::int64_t, store::Texts> found;
  // A turn whose calls have lost their texts stays as it is: what exists is better than what could be made.
  bool whole = session && turn;
  if (whole && TRY(store::has_expired(db_, wanted->session, wanted->number))) {
    auto events = TRY(store::turn_events(db_, wanted->session, wanted->number));
    if (options_.archived) options_.archived(*session, events);
    for (const store::KeptEvent& event : events) {
      if (event.kind == event::Kind::tool && !event.texts.input && !event.texts.response) whole = false;
      found[event.seq] = event.texts;
    }
  }
  const intake::FillTexts fill = [&](const store::Session&, std::vector<store::KeptEvent>& events) {
    for (store::KeptEvent& event : events)
      if (const auto texts = found.find(event.seq); texts != found.end()) event.texts = texts->second;
  };
  TRY(store::in_transaction(db_, [&]() -> Status {
    if (whole) {
      TRY(store::drop_derived(db_, wanted->session, wanted->number));
      TRY(store::forget_model_summary(db_, wanted->session, wanted->number));
      TRY(intake::distil_turn(db_, *session, *turn, mode_, options_.budget, clock_.now(),
                              found.empty() ? nullptr : fill));
    }
    return store::end_redistil(db_, *wanted);
  }));
  return true;
}

Status Worker::stop() {
  for (auto& [session, dialog] : dialogs_) {
    if (dialog.sent) TRY(return_sent(*dialog.sent, "the daemon ended", false, Millis(0)));
    end(session, dialog, false);
  }
  dialogs_.clear();
  return {};
}

}  // namespace cairn::agent
