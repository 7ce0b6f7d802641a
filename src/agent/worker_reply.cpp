// The half of the worker that receives: replies, errors, and what is stored of them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "agent/prices.h"
#include "agent/rows.h"
#include "agent/worker.h"
#include "base/text.h"
#include "store/identity.h"
#include "store/queue_admin.h"
#include "store/retention.h"
#include "store/summaries.h"
#include "store/turns.h"

namespace cairn::agent {

using Outcome = store::ModelCallOutcome;

static constexpr Millis kFirstWait(100);   // for a memory id; doubles
static constexpr int kWaits = 5;           // 3.1 s in all
static constexpr int kMessagesAStep = 64;  // so that one conversation cannot hold up the others
// Messages without a reply to a prompt: a provider that sends more will never finish.
static constexpr int kMostNotes = 10'000;

// A reply goes through these steps, each of which can be repeated after an error of the store: receive()
// keeps the message; take_reply() ends the call in the ledger, because it is paid for whatever follows;
// store_reply() waits for the memory id and stores the rows; only then the request is done.
Result<bool> Worker::advance(SessionId session, Dialog& dialog) {
  if (TRY(end_with_session(session, dialog))) return true;
  bool did = false;
  for (int received = 0; received < kMessagesAStep && !dialog.over && TRY(receive(session, dialog));
       ++received)
    did = true;
  if (dialog.over) return true;
  if (!dialog.sent) {
    if (clock_.boot_ns() >= dialog.used_at + std::chrono::nanoseconds(options_.idle).count())
      end(session, dialog, true);
    return did;
  }
  if (dialog.sent->reply) did |= TRY(store_reply(session, dialog));
  if (dialog.sent) TRY(keep_alive(session, dialog));
  return did;
}

// Ends the conversation when its session has ended, and returns its batch. What is left in the queue is
// distilled in another conversation, which ends with its batch.
Result<bool> Worker::end_with_session(SessionId session, Dialog& dialog) {
  const auto now = TRY(store::find_session(db_, session));
  const bool is_on = now && now->status == store::SessionStatus::active;
  if (is_on || !dialog.session_active) {
    dialog.session_active = is_on;
    return false;
  }
  const bool was_busy = dialog.sent.has_value();
  if (was_busy) TRY(return_sent(*dialog.sent, "its session ended", false, Millis(0)));
  end(session, dialog, !was_busy);
  return true;
}

// Handles the next message of the provider. False: there is none. When the store fails, the message is kept
// and handled again at the next step.
Result<bool> Worker::receive(SessionId session, Dialog& dialog) {
  if (!dialog.received) dialog.received = dialog.conversation->receive();
  if (!dialog.received) return false;
  ProviderMessage& message = *dialog.received;
  if (!message.memory_id.empty() && message.memory_id != dialog.id) {
    auto captured = capture(session, dialog, message.memory_id);
    // `invalid`: the id is another session's. Storing under it would mix two sessions, so this ends the
    // conversation. Any other error is the store's: the message is handled again.
    if (!captured && captured.error().code != Code::invalid) return std::move(captured).error();
    if (!captured) message.what = Trouble{Trouble::Kind::setup, captured.error().message, {}, {}};
  }
  if (const auto* trouble = std::get_if<Trouble>(&message.what)) {
    if (!dialog.sent && trouble->kind == Trouble::Kind::canceled)
      end(session, dialog, true);  // between two batches: nothing failed, and it may be resumed
    else
      TRY(fail_batch(session, dialog, *trouble));
  } else if (auto* reply = std::get_if<Reply>(&message.what); reply && dialog.sent && !dialog.sent->reply) {
    TRY(take_reply(dialog, *reply));
  } else if (++dialog.notes > kMostNotes) {
    TRY(fail_batch(session, dialog, {Trouble::Kind::transient, "many messages without a reply", {}, {}}));
  }
  dialog.received.reset();
  return true;
}

// Reads a reply, and ends its call in the ledger. Called again with the same reply when the store failed.
Status Worker::take_reply(Dialog& dialog, Reply& reply) {
  Sent& sent = *dialog.sent;
  reply.text = valid_utf8(std::move(reply.text));
  Scanned scanned = scan_reply(reply.text, reply.cut);
  const bool learned = !scanned.findings.empty() || !scanned.summaries.empty();
  const Outcome outcome = learned ? Outcome::ok : scanned.skip ? Outcome::skipped : Outcome::unusable;
  const bool known = reply.usage.input_tokens > 0 || reply.usage.output_tokens > 0;
  TRY(end_call(sent, outcome, reply.usage, reply.model, !known));
  for (const std::string& what : scanned.left_out)
    log_.info(fmt::format("reply batch={} left out: {}", sent.id, what));
  ++dialog.length.turns;
  dialog.length.tokens = known ? reply.usage.input_tokens + reply.usage.output_tokens
                               : sent.sent_tokens + static_cast<std::int64_t>(estimate_tokens(reply.text));
  sent.scanned = std::move(scanned);
  sent.reply = std::move(reply);
  sent.try_at = clock_.boot_ns();
  return {};
}

// Ends the call of a request. `estimated`: what it used is not known, so it counts as reserved.
Status Worker::end_call(Sent& sent, Outcome outcome, const Usage& usage, const std::string& model,
                        bool estimated) {
  if (sent.call == 0) return {};  // ended before
  store::CallEnd end;
  end.outcome = outcome;
  end.model = one_line(visible(model), 100);
  end.input_tokens = usage.input_tokens;
  end.output_tokens = usage.output_tokens;
  end.cached_tokens = usage.cached_tokens;
  end.cost_usd = usage.cost_usd;
  if (!end.cost_usd) {
    // The model that answered may have a more exact name, or one that no table has.
    auto price = price_of(end.model, options_.prices);
    if (!price) price = price_of(provider_->model(), options_.prices);
    if (price) end.cost_usd = price->of(usage);
  }
  end.estimated = estimated;
  end.duration =
      std::chrono::duration_cast<Millis>(std::chrono::nanoseconds(clock_.boot_ns() - sent.sent_at));
  TRY(store::in_transaction(db_, [&] { return store::end_call(db_, sent.call, end); }));
  sent.call = 0;
  return {};
}

// Registers the memory id from the first message that carries it, before anything is stored under it.
Status Worker::capture(SessionId session, Dialog& dialog, const MemoryId& id) {
  TRY(store::in_transaction(db_, [&]() -> Status {
    TRY(store::register_memory_id(db_, session, id, provider_->name(), clock_.now()));
    return {};
  }));
  dialog.id = id;
  without_id_.erase(session);
  log_.info(fmt::format("memory id registered session={} memory={} provider={}", session.value, id.value,
                        provider_->name()));
  return {};
}

// The id to store under: the conversation's own once it is registered, or one from a manual repair.
Result<std::optional<MemoryId>> Worker::memory_of(SessionId session, const Dialog& dialog) {
  const store::Identity identity = TRY(store::identity_of(db_, session));
  const auto* captured = std::get_if<store::Captured>(&identity);
  if (captured && (captured->id == dialog.id || store::is_manual(*captured)))
    return std::optional(captured->id);
  return std::optional<MemoryId>();
}

// Stores the reply, or delays it while there is no memory id.
Result<bool> Worker::store_reply(SessionId session, Dialog& dialog) {
  Sent& sent = *dialog.sent;
  if (clock_.boot_ns() < sent.try_at) return false;
  if (!sent.scanned.usable()) {
    TRY(fail_batch(session, dialog, trouble_of_prose(sent.reply->text)));
    return true;
  }
  std::optional<MemoryId> memory;
  if (provider_->has_ids()) {
    memory = TRY(memory_of(session, dialog));
    if (!memory) return wait_for_id(session, dialog);
  }
  auto stored = store(session, sent, memory.value_or(MemoryId{}));
  if (stored) {
    if (sent.batch) processed_ += static_cast<std::int64_t>(sent.batch->messages.size());
    if (breaker_.succeed()) {
      log_.info(fmt::format("provider={} works again", provider_->name()));
      look_at_ = 0;
    }
    dialog.sent.reset();
    dialog.used_at = clock_.boot_ns();
    // The session is over, so no more batches are expected for this conversation.
    if (!dialog.session_active) end(session, dialog, true);
    return true;
  }
  const Code code = stored.error().code;
  // `canceled`: messages were taken from the batch (forgotten, or its lease expired). `invalid`: a row was
  // refused, which may be the fault of a message, so it counts as a try. Other errors are the store's: the
  // reply is kept and stored at the next step.
  if (code != Code::canceled && code != Code::invalid) return std::move(stored).error().in("queue");
  TRY(return_sent(sent, stored.error().message, code == Code::invalid, Millis(0)));
  log_.error("queue: " + stored.error().message);
  end(session, dialog, false);
  return true;
}

// Delays the reply, each time for twice as long; after the last time returns the batch. The messages did
// nothing wrong, so no try is counted; the pause grows with each conversation that had no id.
Result<bool> Worker::wait_for_id(SessionId session, Dialog& dialog) {
  Sent& sent = *dialog.sent;
  if (sent.tries == kWaits) {
    const int before = without_id_[session]++;
    TRY(return_sent(sent, store::kNeverCaptured, false, store::retry_delay(before, 0)));
    log_.warn(
        fmt::format("{} session={} provider={}", store::kNeverCaptured, session.value, provider_->name()));
    end(session, dialog, false);
    return true;
  }
  const Millis wait = kFirstWait * (1 << sent.tries);
  if (sent.batch)
    TRY(store::in_transaction(db_, [&]() -> Status {
      return store::note_waiting(db_, *sent.batch, store::kAwaitingId, clock_.now() + wait);
    }));
  ++sent.tries;
  sent.try_at = after(wait);
  return false;
}

// Stores the observations and their evidence, and ends the batch or the piece of a turn, in one transaction.
// Also clears a trouble that is still stored, perhaps by an earlier daemon: the provider works.
Status Worker::store(SessionId session, const Sent& sent, const MemoryId& memory) {
  const auto of = TRY(store::find_session(db_, session));
  std::vector<store::KeptEvent> events;
  if (sent.batch) {
    // Read again: something may have been forgotten since the request was sent.
    events = TRY(events_of(*sent.batch));
  } else {
    for (const std::int64_t seq : sent.events)
      if (auto event = TRY(store::kept_event(db_, seq))) events.push_back(*std::move(event));
    if (of && options_.archived && TRY(store::has_expired(db_, session, sent.turn->number)))
      options_.archived(*of, events);
  }
  if (!of || events.empty()) return Error{Code::canceled, "queue: batch " + sent.id + " is gone"};
  store::Put put;
  TRY(store::in_transaction(db_, [&]() -> Status {
    TRY(put_rows(*of, sent, memory, events, put));
    TRY(store::clear_agent_trouble(db_));
    if (sent.batch) return store::complete(db_, *sent.batch, clock_.now());
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    if (TRY(store::has_work_between(db_, session, sent.turn->number, sent.events.back(), kEnd)))
      return store::advance_redistil(db_, *sent.turn, sent.events.back());
    return store::end_redistil(db_, *sent.turn);
  }));
  if (const auto warning = store::warning_of(put, options_.budget))
    log_.warn(fmt::format("{} session={}", *warning, of->content_id.value));
  return {};
}

// Writes the rows of a reply, within the transaction. The order matters: the model's old observations of
// the turn are removed first, then the built-in ones about the same events, then the new ones are added;
// distil_turn() comes last, because it reads the new summaries.
Status Worker::put_rows(const store::Session& session, const Sent& sent, const MemoryId& memory,
                        const std::vector<store::KeptEvent>& events, store::Put& put) {
  Rows rows = TRY(rows_of(db_, sent.scanned, session, events, gate_, provider_->name()));
  std::vector<store::Observation>& list = rows.observations;
  if (list.empty() && rows.summaries.empty()) return {};
  const MemoryId under =
      memory.empty() ? TRY(store::ensure_memory_id(db_, session.id, clock_.now())) : memory;
  for (const store::Summary& summary : rows.summaries)
    TRY(store::put_summary(db_, under, summary, clock_.now()));
  // Only with the first piece of the turn: later pieces would remove what the earlier ones have added.
  if (sent.turn && sent.turn->done_to == 0 && !list.empty())
    TRY(store::drop_derived(db_, session.id, sent.turn->number));
  for (const store::Observation& learned : list)  // they replace the built-in ones about these events
    if (learned.prompt_number)
      TRY(store::drop_covered(db_, store::turn_batch(session, *learned.prompt_number), list));
  put = TRY(store::put_within(db_, under, sent.id, std::move(list), options_.budget));
  // What a model says is open is merged with the turn's own open items.
  for (const store::Summary& summary : rows.summaries)
    if (const auto turn = TRY(store::find_turn(db_, session.id, summary.prompt_number)))
      TRY(intake::distil_turn(db_, session, *turn, mode_, options_.budget, clock_.now()));
  return {};
}

// Extends the lease, and ends a call that is past its deadline.
Status Worker::keep_alive(SessionId session, Dialog& dialog) {
  Sent& sent = *dialog.sent;
  if (!sent.reply && clock_.boot_ns() >= sent.deadline)
    return fail_batch(session, dialog,
                      {Trouble::Kind::transient,
                       fmt::format("no reply within {} s", options_.reply_within / std::chrono::seconds(1)),
                       {},
                       {}});
  if (clock_.boot_ns() < sent.beat_at) return {};
  bool ours = true;
  if (sent.batch)
    TRY(store::in_transaction(db_, [&]() -> Status {
      ours = TRY(store::extend_lease(db_, *sent.batch, clock_.now(), options_.lease));
      return {};
    }));
  sent.beat_at = after(options_.lease / 3);
  if (ours) return {};
  TRY(return_sent(sent, "messages of its batch were removed", false, Millis(0)));
  end(session, dialog, false);
  return {};
}

// Counts a failure of the provider: its next call waits, and after several the built-in distiller is used.
// Returns the pause.
Millis Worker::count_trouble(const Trouble& trouble) {
  std::optional<Millis> until_retry;
  if (trouble.until) until_retry = std::chrono::duration_cast<Millis>(*trouble.until - clock_.now());
  const Millis pause = breaker_.fail(trouble, clock_.boot_ns(), until_retry);
  if (pause > Millis(0))
    retry_at_ = std::min(retry_at_.value_or(breaker_.pause_until()), breaker_.pause_until());
  return pause;
}

// Stores why the provider is not used, for people.
Status Worker::note_trouble(const Trouble& trouble, Millis pause) {
  if (!breaker_.open()) return {};
  const auto known = TRY(store::agent_trouble(db_));
  return store::in_transaction(db_, [&] {
    return store::put_agent_trouble(db_, {std::string(provider_->name()), outcome_of(trouble.kind),
                                          one_line(visible(trouble.reason), 200),
                                          known ? known->since : clock_.now(), clock_.now() + pause});
  });
}

// Returns the batch after an error of the provider. An error that the messages may have caused counts as a
// try. While the breaker is open nothing counts: the built-in distiller does the batch. Called again with the
// same error when the store failed: the breaker counts it once.
Status Worker::fail_batch(SessionId session, Dialog& dialog, const Trouble& trouble) {
  using Kind = Trouble::Kind;
  const std::string reason = fmt::format("{}: {}", kind_name(trouble.kind), trouble.reason);
  if (dialog.sent) {
    const bool known = trouble.usage.input_tokens > 0 || trouble.usage.output_tokens > 0;
    // A request that was refused used nothing. One that broke off may have used all that was reserved.
    const bool unknown = trouble.kind == Kind::transient || trouble.kind == Kind::canceled;
    TRY(end_call(*dialog.sent, outcome_of(trouble.kind), trouble.usage, "", !known && unknown));
  }
  if (!dialog.pause) dialog.pause = count_trouble(trouble);
  TRY(note_trouble(trouble, *dialog.pause));
  const bool instead = breaker_.open() && options_.fallback;
  const bool counts = !instead && (trouble.kind == Kind::transient || trouble.kind == Kind::rejected);
  if (dialog.sent) TRY(return_sent(*dialog.sent, reason, counts, instead ? Millis(0) : *dialog.pause));
  log_.warn(fmt::format("provider={} session={} {}", provider_->name(), session.value, reason));
  end(session, dialog, false);
  return {};
}

// Returns what a request was about, to be tried again. Its call is over.
Status Worker::return_sent(Sent& sent, std::string_view reason, bool counts, Millis pause) {
  TRY(end_call(sent, Outcome::canceled, {}, "", true));
  if (sent.batch) return return_batch(*sent.batch, reason, counts, pause);
  // A turn is still in its list: it only must not be begun again too soon.
  look_at_ = std::max(look_at_, after(pause));
  if (!counts) return {};
  return store::in_transaction(db_, [&]() -> Status {
    TRY(store::fail_redistil(db_, *sent.turn, reason));
    return {};
  });
}

Status Worker::return_batch(const store::Batch& batch, std::string_view reason, bool counts, Millis pause) {
  const WallTime now = clock_.now();
  TRY(store::in_transaction(db_, [&]() -> Status {
    const store::RetryPolicy policy{options_.max_retries, static_cast<std::uint64_t>(clock_.boot_ns())};
    if (counts)
      TRY(store::return_with_retry(db_, batch, reason, policy, now));
    else
      TRY(store::return_without_retry(db_, batch, reason, pause > Millis(0) ? now + pause : WallTime()));
    return {};
  }));
  const std::int64_t due = after(counts ? store::retry_delay(0, 0) : pause);
  retry_at_ = std::min(retry_at_.value_or(due), due);
  return {};
}

}  // namespace cairn::agent
