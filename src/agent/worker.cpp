#include "agent/worker.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/origin.h"
#include "base/text.h"
#include "store/identity.h"
#include "store/queue_admin.h"

namespace cairn::agent {

static constexpr Millis kFirstWait(100);  // for a memory id; doubles
static constexpr int kWaits = 5;          // 3.1 s in all
static constexpr int kMessagesAStep = 64;
static constexpr int kMostNotes =
    10'000;  // messages between two replies: a provider that sends more will never finish

std::string_view kind_name(Trouble::Kind kind) {
  switch (kind) {
    case Trouble::Kind::transient: return "transient";
    case Trouble::Kind::rate_limited: return "rate_limited";
    case Trouble::Kind::quota: return "quota";
    case Trouble::Kind::auth: return "auth";
    case Trouble::Kind::setup: return "setup";
    case Trouble::Kind::rejected: return "rejected";
    case Trouble::Kind::canceled: return "canceled";
  }
  return "transient";
}

std::int64_t Worker::after(Millis time) const {
  return clock_.boot_ns() + std::chrono::nanoseconds(time).count();
}

Result<bool> Worker::step() {
  const auto is_over = [](const auto& dialog) { return dialog.second.over; };
  bool did = false;
  for (auto& [session, dialog] : dialogs_)
    if (!dialog.over) did |= TRY(advance(session, dialog));
  std::erase_if(dialogs_, is_over);
  if (unsent_) return finish_unsent();
  const bool begun = TRY(begin());  // start new batches even while one conversation is chatty
  return did || begun;
}

std::optional<std::int64_t> Worker::wake_at() const {
  std::optional<std::int64_t> at = retry_at_;
  const auto sooner = [&](std::int64_t time) { at = std::min(at.value_or(time), time); };
  for (const auto& [session, dialog] : dialogs_) {
    if (!dialog.run) {
      sooner(dialog.used_at + std::chrono::nanoseconds(options_.idle).count());
      continue;
    }
    sooner(dialog.run->beat_at);
    sooner(dialog.run->reply ? dialog.run->try_at : dialog.run->deadline);
  }
  return at;
}

bool Worker::awaits() const {
  return std::any_of(dialogs_.begin(), dialogs_.end(),
                     [](const auto& dialog) { return dialog.second.run.has_value(); });
}

// Claims the next batch. One that needs no provider is finished at once.
Result<bool> Worker::begin() {
  const bool due = retry_at_ && *retry_at_ <= clock_.boot_ns();
  if (due) retry_at_.reset();
  if (clock_.boot_ns() < paused_until_) {
    retry_at_ = paused_until_;
    return false;
  }
  const auto busy =
      std::count_if(dialogs_.begin(), dialogs_.end(), [](const auto& t) { return t.second.run.has_value(); });
  if (static_cast<std::size_t>(busy) >= options_.max_concurrent) return false;
  std::optional<store::Batch> claimed;
  bool used_up = false;
  auto done = store::in_transaction(db_, [&]() -> Status {
    claimed = TRY(store::claim(db_, clock_.now(), options_.max_events, options_.lease));
    if (claimed) used_up = TRY(store::is_used_up(db_, claimed->session, options_.budget));
    return {};
  });
  if (!done) {
    if (due) retry_at_ = clock_.boot_ns();
    return std::move(done).error().in("queue");
  }
  if (!claimed) {
    if (due) retry_at_ = TRY(next_due());
    return false;
  }
  if (due) retry_at_ = clock_.boot_ns();  // other batches may be due too
  if (provider_ && !used_up) {
    TRY(send(*std::move(claimed)));
    return true;
  }
  unsent_ = std::move(claimed);
  return finish_unsent();
}

// When the next message that waits for a retry is due (boot ns).
Result<std::optional<std::int64_t>> Worker::next_due() {
  const WallTime now = clock_.now();
  const auto at = TRY(store::next_retry(db_, now));
  if (!at) return std::optional<std::int64_t>();
  return std::optional(after(std::min<Millis>(*at - now, options_.idle)));
}

// Ends a batch that needs no provider. When the store cannot be written, the batch stays claimed and is tried
// again: the messages did not cause the error.
Result<bool> Worker::finish_unsent() {
  auto done = store::in_transaction(db_, [&] { return store::complete(db_, *unsent_, clock_.now()); });
  if (done) {
    processed_ += static_cast<std::int64_t>(unsent_->messages.size());
    unsent_.reset();
    return true;
  }
  const Code code = done.error().code;
  if (code == Code::canceled || code == Code::invalid) {
    // Someone removed messages from the batch: return the others to the queue.
    TRY(return_batch(*unsent_, done.error().message, code == Code::invalid, Millis(0)));
    unsent_.reset();
  }
  return std::move(done).error().in("queue");
}

Result<Request> Worker::request_for(const store::Batch& batch) {
  Request request{batch.id, {}};
  for (store::Message& m : TRY(store::messages_of(db_, batch)))
    request.events.push_back({m.event_seq, m.type, m.tool_name, m.texts.input, m.texts.response,
                              m.last_user_message, m.last_assistant_message, m.prompt_number, m.created_at});
  return request;
}

// Sends a batch to the provider, in the session's conversation or a new one.
Status Worker::send(store::Batch batch) {
  const auto request = request_for(batch);
  const auto session = store::find_session(db_, batch.session);
  if (!request || !session || !*session)
    return return_batch(batch, "it could not be read", false, store::retry_delay(0, 0));
  Dialog& dialog = conversation_for(**session, request->events.back().prompt_number.value_or(0));
  Run& run = *(dialog.run = Run{});
  run.deadline = after(options_.reply_within);
  run.beat_at = after(options_.lease / 3);
  run.batch = std::move(batch);
  dialog.notes = 0;
  dialog.conversation->send(*request);
  return {};
}

// The session's conversation, or a new one. A conversation that still works on a batch has lost its lease
// (else the session could not be claimed): it is ended, because its reply would belong to the old batch.
Worker::Dialog& Worker::conversation_for(const store::Session& session, std::int64_t prompt) {
  if (const auto known = dialogs_.find(session.id); known != dialogs_.end()) {
    if (!known->second.run) return known->second;
    end(session.id, known->second, false);
    dialogs_.erase(known);
  }
  if (dialogs_.size() >= options_.max_concurrent) make_room();
  const store::Run run{provider_->name(), prompt, !may_resume_.contains(session.id)};
  const Start start{session.id, session.project, store::may_resume(session.identity, run)};
  Dialog& dialog = dialogs_[session.id];
  dialog.conversation = provider_->start(start);
  dialog.session_active = session.status == store::SessionStatus::active;
  if (start.resume) dialog.id = *start.resume;
  may_resume_.erase(session.id);
  log_.info(fmt::format("conversation begins session={} provider={} resume={}", session.content_id.value,
                        provider_->name(), start.resume ? start.resume->value : "none"));
  return dialog;
}

// Ends the conversation that was idle longest.
void Worker::make_room() {
  auto oldest = dialogs_.end();
  for (auto it = dialogs_.begin(); it != dialogs_.end(); ++it)
    if (!it->second.run && (oldest == dialogs_.end() || it->second.used_at < oldest->second.used_at))
      oldest = it;
  if (oldest == dialogs_.end()) return;
  end(oldest->first, oldest->second, true);
  dialogs_.erase(oldest);
}

void Worker::end(SessionId session, Dialog& dialog, bool in_order) {
  dialog.over = true;
  dialog.conversation.reset();
  dialog.run.reset();
  if (in_order) may_resume_.insert(session);
}

Result<bool> Worker::advance(SessionId session, Dialog& dialog) {
  if (TRY(end_with_session(session, dialog))) return true;
  bool did = false;
  for (int received = 0; received < kMessagesAStep && !dialog.over && TRY(receive(session, dialog));
       ++received)
    did = true;
  if (dialog.over) return true;
  if (!dialog.run) {
    if (clock_.boot_ns() >= dialog.used_at + std::chrono::nanoseconds(options_.idle).count())
      end(session, dialog, true);
    return did;
  }
  if (dialog.run->reply) did |= TRY(store_reply(session, dialog));
  if (dialog.run) TRY(keep_alive(session, dialog));
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
  const bool was_busy = dialog.run.has_value();
  if (was_busy) TRY(return_batch(dialog.run->batch, "its session ended", false, Millis(0)));
  end(session, dialog, !was_busy);
  return true;
}

// Handles the next message of the provider. False: there is none. When the store fails, the message is kept
// and handled again at the next step.
Result<bool> Worker::receive(SessionId session, Dialog& dialog) {
  if (!dialog.received) dialog.received = dialog.conversation->receive();
  if (!dialog.received) return false;
  Message& message = *dialog.received;
  if (!message.memory_id.empty() && message.memory_id != dialog.id) {
    auto captured = capture(session, dialog, message.memory_id);
    if (!captured && captured.error().code != Code::invalid) return std::move(captured).error();
    if (!captured) message.what = Trouble{Trouble::Kind::setup, captured.error().message, {}};
  }
  if (const auto* trouble = std::get_if<Trouble>(&message.what)) {
    TRY(fail_batch(session, dialog, *trouble));
  } else if (auto* reply = std::get_if<Reply>(&message.what); reply && dialog.run && !dialog.run->reply) {
    dialog.run->reply = std::move(*reply);
    dialog.run->try_at = clock_.boot_ns();
  } else if (++dialog.notes > kMostNotes) {
    TRY(fail_batch(session, dialog, {Trouble::Kind::transient, "many messages without a reply", {}}));
  }
  dialog.received.reset();
  return true;
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
  Run& run = *dialog.run;
  if (clock_.boot_ns() < run.try_at) return false;
  if (run.reply->findings.empty() && run.reply->skipped.empty()) {
    TRY(fail_batch(session, dialog, {Trouble::Kind::rejected, "the reply has nothing usable", {}}));
    return true;
  }
  std::optional<MemoryId> memory;
  if (provider_->has_ids()) {
    memory = TRY(memory_of(session, dialog));
    if (!memory) return wait_for_id(session, dialog);
  }
  auto stored = store(session, run, memory.value_or(MemoryId{}));
  if (stored) {
    processed_ += static_cast<std::int64_t>(run.batch.messages.size());
    failures_ = 0;
    dialog.run.reset();
    dialog.used_at = clock_.boot_ns();
    if (!dialog.session_active) end(session, dialog, true);
    return true;
  }
  const Code code = stored.error().code;
  if (code != Code::canceled && code != Code::invalid) return std::move(stored).error().in("queue");
  TRY(return_batch(run.batch, stored.error().message, code == Code::invalid, Millis(0)));
  log_.error("queue: " + stored.error().message);
  end(session, dialog, false);
  return true;
}

Result<bool> Worker::wait_for_id(SessionId session, Dialog& dialog) {
  Run& run = *dialog.run;
  if (run.tries == kWaits) {
    const int before = without_id_[session]++;
    TRY(return_batch(run.batch, store::kNeverCaptured, false, store::retry_delay(before, 0)));
    log_.warn(
        fmt::format("{} session={} provider={}", store::kNeverCaptured, session.value, provider_->name()));
    end(session, dialog, false);
    return true;
  }
  const Millis wait = kFirstWait * (1 << run.tries);
  TRY(store::in_transaction(db_, [&]() -> Status {
    return store::note_waiting(db_, run.batch, store::kAwaitingId, clock_.now() + wait);
  }));
  ++run.tries;
  run.try_at = after(wait);
  return false;
}

// A model's reply is untrusted text: it passes the gate, and cannot contain labels of ours.
static void pass_gate(store::Observation& learned, const gate::Gate& gate) {
  for (std::string* text : {&learned.type, &learned.title, &learned.subtitle, &learned.narrative})
    *text = labelled(visible(gate.clean(*text, gate::Way::model)));
  for (auto* list : {&learned.facts, &learned.concepts, &learned.files_read, &learned.files_modified})
    for (std::string& text : *list) text = labelled(visible(gate.clean(text, gate::Way::model)));
}

// The reply as rows. Project, turn and time come from the events, never from the provider.
static std::vector<store::Observation> observations_of(const Reply& reply, const Request& request,
                                                       const std::string& project, const gate::Gate& gate) {
  std::vector<store::Observation> list;
  for (const Finding& finding : reply.findings) {
    store::Observation learned = finding.observation;
    pass_gate(learned, gate);
    learned.project = project;
    learned.position = std::ssize(list);
    for (const Item& item : request.events) {
      const bool named =
          std::find(finding.events.begin(), finding.events.end(), item.event_seq) != finding.events.end();
      if (!named && !finding.events.empty()) continue;
      learned.events.push_back(item.event_seq);
      learned.prompt_number = item.prompt_number;
      learned.created_at = item.at;
    }
    list.push_back(std::move(learned));
  }
  return list;
}

// Stores the observations and their evidence, and completes the batch, in one transaction.
Status Worker::store(SessionId session, const Run& run, const MemoryId& memory) {
  const auto request = TRY(request_for(run.batch));
  const auto of = TRY(store::find_session(db_, session));
  if (!of || request.events.empty())
    return Error{Code::canceled, "queue: batch " + run.batch.id + " is gone"};
  std::vector<store::Observation> list = observations_of(*run.reply, request, of->project, gate_);
  store::Put put;
  TRY(store::in_transaction(db_, [&]() -> Status {
    if (!list.empty()) {
      const MemoryId under =
          memory.empty() ? TRY(store::ensure_memory_id(db_, session, clock_.now())) : memory;
      for (const store::Observation& learned : list)  // replace the built-in distiller's about these events
        if (learned.prompt_number)
          TRY(store::drop_covered(db_, store::turn_batch(*of, *learned.prompt_number), list));
      put = TRY(store::put_within(db_, under, run.batch.id, std::move(list), options_.budget));
    }
    return store::complete(db_, run.batch, clock_.now());
  }));
  if (const auto warning = store::warning_of(put, options_.budget))
    log_.warn(fmt::format("{} session={}", *warning, of->content_id.value));
  return {};
}

// Extends the lease, and ends a call that is past its deadline.
Status Worker::keep_alive(SessionId session, Dialog& dialog) {
  Run& run = *dialog.run;
  if (!run.reply && clock_.boot_ns() >= run.deadline)
    return fail_batch(session, dialog,
                      {Trouble::Kind::transient,
                       fmt::format("no reply within {} s", options_.reply_within / std::chrono::seconds(1)),
                       {}});
  if (clock_.boot_ns() < run.beat_at) return {};
  bool ours = true;
  TRY(store::in_transaction(db_, [&]() -> Status {
    ours = TRY(store::extend_lease(db_, run.batch, clock_.now(), options_.lease));
    return {};
  }));
  run.beat_at = after(options_.lease / 3);
  if (ours) return {};
  TRY(return_batch(run.batch, "messages of its batch were removed", false, Millis(0)));
  end(session, dialog, false);
  return {};
}

// Returns the batch after an error of the provider. An error that the messages may have caused counts as a
// try. Every error except a rejected request delays the provider's next call, longer each time.
Status Worker::fail_batch(SessionId session, Dialog& dialog, const Trouble& trouble) {
  const bool counts = trouble.kind == Trouble::Kind::transient || trouble.kind == Trouble::Kind::rejected;
  const std::string reason = fmt::format("{}: {}", kind_name(trouble.kind), trouble.reason);
  Millis pause(0);
  if (trouble.kind != Trouble::Kind::rejected) pause = store::retry_delay(failures_, 0);
  if (trouble.until && *trouble.until > clock_.now())
    pause = std::chrono::duration_cast<Millis>(*trouble.until - clock_.now());
  if (dialog.run) TRY(return_batch(dialog.run->batch, reason, counts, pause));
  if (pause > Millis(0)) {
    ++failures_;
    paused_until_ = after(pause);
    retry_at_ = std::min(retry_at_.value_or(paused_until_), paused_until_);
  }
  log_.warn(fmt::format("provider={} session={} {}", provider_->name(), session.value, reason));
  end(session, dialog, false);
  return {};
}

Status Worker::return_batch(const store::Batch& batch, std::string_view reason, bool counts, Millis pause) {
  const WallTime now = clock_.now();
  TRY(store::in_transaction(db_, [&]() -> Status {
    const store::RetryPolicy policy{options_.max_retries, static_cast<std::uint64_t>(clock_.boot_ns())};
    if (counts)
      TRY(store::give_back(db_, batch, reason, policy, now));
    else
      TRY(store::release(db_, batch, reason, pause > Millis(0) ? now + pause : WallTime()));
    return {};
  }));
  const std::int64_t due = after(counts ? store::retry_delay(0, 0) : pause);
  retry_at_ = std::min(retry_at_.value_or(due), due);
  return {};
}

Status Worker::stop() {
  for (auto& [session, dialog] : dialogs_) {
    if (dialog.run) TRY(return_batch(dialog.run->batch, "the daemon ended", false, Millis(0)));
    end(session, dialog, false);
  }
  dialogs_.clear();
  return {};
}

}  // namespace cairn::agent
