// The half of the worker that sends: what is in a request, what it may cost, in which conversation it goes.
#include <fmt/format.h>

#include <algorithm>

#include "agent/material.h"
#include "agent/prices.h"
#include "agent/worker.h"
#include "base/text.h"
#include "store/identity.h"
#include "store/queue_admin.h"
#include "store/retention.h"

namespace cairn::agent {

// Tokens that a provider may add around a request.
static constexpr std::int64_t kOverhead = 2000;
// When a turn of the backlog is tried again after the budget allowed no call, or it could not be read.
static constexpr Millis kRefusedAgain = std::chrono::minutes(10);

// The batch's events, in the order of its messages.
Result<std::vector<store::KeptEvent>> Worker::events_of(const store::Batch& batch) {
  std::vector<store::KeptEvent> events;
  for (const store::Message& message : TRY(store::messages_of(db_, batch)))
    if (auto event = TRY(store::kept_event(db_, message.event_seq))) events.push_back(*std::move(event));
  return events;
}

// The next events of a turn that is distilled again. Empty when there are none, or their texts are gone.
Result<std::vector<store::KeptEvent>> Worker::events_of(const store::RedistilTurn& turn,
                                                        const store::Session& session) {
  std::vector<store::KeptEvent> events;
  for (store::KeptEvent& event : TRY(store::turn_events(db_, turn.session, turn.number))) {
    // The same kinds that the queue has: ends of calls, and of the turn. The prompt is in the request
    // anyway.
    const bool work = event.kind == event::Kind::tool || event.kind == event::Kind::tool_failure ||
                      event.kind == event::Kind::stop || event.kind == event::Kind::stop_failure;
    if (work && event.seq > turn.done_to && events.size() < options_.batch_events)
      events.push_back(std::move(event));
  }
  if (!TRY(store::has_expired(db_, turn.session, turn.number))) return events;
  if (options_.archived) options_.archived(session, events);
  const auto gone = std::count_if(events.begin(), events.end(), [](const store::KeptEvent& event) {
    return event.kind == event::Kind::tool && !event.texts.input && !event.texts.response;
  });
  if (gone * 4 > std::ssize(events)) events.clear();  // too little is left to do better than before
  return events;
}

Status Worker::send_batch(store::Batch batch) {
  auto events = events_of(batch);
  const auto session = store::find_session(db_, batch.session);
  if (!events || events->empty() || !session || !*session)
    return return_batch(batch, "it could not be read", false, store::retry_delay(0, 0));
  return send({std::move(batch), {}, **session, *std::move(events)});
}

Status Worker::send_turn(const store::RedistilTurn& turn) {
  const auto session = TRY(store::find_session(db_, turn.session));
  if (session) {
    auto events = TRY(events_of(turn, *session));
    if (!events.empty()) return send({{}, turn, *session, std::move(events)});
  }
  return store::in_transaction(db_, [&] { return store::end_redistil(db_, turn); });
}

// Sends a request in the session's conversation, or in a new one when there is none or it became too long.
// The order matters: the request is written first, because its length decides whether the conversation can
// go on; then the call is reserved in the ledger; only then it is sent, so that no call is made that the
// ledger does not know.
Status Worker::send(Outgoing outgoing) {
  const SessionId id = outgoing.session.id;
  auto known = dialogs_.find(id);
  // A conversation that still works on a batch has lost its lease, or the session could not have been
  // claimed. It is ended: its reply would be taken for the reply to this request.
  if (known != dialogs_.end() && known->second.sent) {
    TRY(return_sent(*known->second.sent, "its lease expired", false, Millis(0)));
    end(id, known->second, false);
    dialogs_.erase(known);
    known = dialogs_.end();
  }
  const bool goes_on = known != dialogs_.end();
  std::optional<MemoryId> resume;
  Length length = goes_on ? known->second.length : Length{};
  if (!goes_on) {
    const store::AgentRun run{provider_->name(), outgoing.events.back().prompt_number,
                              !may_resume_.contains(id)};
    resume = store::may_resume(outgoing.session.identity, run);
    if (resume) length = may_resume_[id];
  }
  bool fresh = !goes_on && !resume;
  // Called twice when the conversation turns out to be too long: a fresh one needs the running summary too.
  const auto request_now = [&]() -> Result<Request> {
    PromptMaterial material = TRY(load_material(db_, outgoing.session, outgoing.events, fresh));
    material.batch_id = outgoing.batch ? outgoing.batch->id : new_uuid(epoch_ms(clock_.now()));
    return write_request(material, mode_);
  };
  auto request = request_now();
  if (!request) return end_here(outgoing, "");
  const auto tokens = static_cast<std::int64_t>(estimate_tokens(request->text));
  if (!fresh &&
      (length.turns >= options_.most_turns || length.tokens + tokens > options_.most_input_tokens)) {
    if (goes_on) {
      end(id, known->second, false);
      dialogs_.erase(known);
    }
    resume.reset();
    length = {};
    fresh = true;
    request = request_now();
    if (!request) return end_here(outgoing, "");
  }
  auto reserved = reserve(outgoing, *request, length);
  if (!reserved) {
    if (outgoing.batch)
      TRY(return_batch(*outgoing.batch, "the store failed", false, store::retry_delay(0, 0)));
    return std::move(reserved).error().in("model calls");
  }
  if (!reserved->refused.empty()) return end_here(outgoing, reserved->refused);
  refused_.clear();
  // Looked up again: the conversation may have been ended above.
  const auto open = dialogs_.find(id);
  Dialog& dialog = open != dialogs_.end() ? open->second : conversation_for(outgoing.session, resume);
  dialog.length = length;
  Sent& sent = *(dialog.sent = Sent{});
  sent.call = reserved->id;
  sent.sent_at = clock_.boot_ns();
  sent.sent_tokens = length.tokens + static_cast<std::int64_t>(estimate_tokens(request->text));
  if (fresh) sent.sent_tokens += static_cast<std::int64_t>(estimate_tokens(request->system));
  sent.deadline = after(options_.reply_within);
  sent.beat_at = after(options_.lease / 3);
  for (const store::KeptEvent& event : outgoing.events) sent.events.push_back(event.seq);
  // A turn that is distilled again needs an id that stays the same when the piece is tried again:
  // put_within() then replaces its observations instead of adding to them.
  sent.id = outgoing.batch
                ? outgoing.batch->id
                : fmt::format("again-{}-{}", store::turn_batch(outgoing.session, outgoing.turn->number),
                              sent.events.front());
  sent.batch = std::move(outgoing.batch);
  sent.turn = outgoing.turn;
  dialog.notes = 0;
  dialog.conversation->send(*request);
  return {};
}

std::int64_t most_input_tokens(const Request& request) {
  return std::ssize(request.text) + std::ssize(request.system) + kOverhead;
}

// Reserves the most that the call can use: as if a byte were a token and nothing cached. If calls of this
// provider have used more than was reserved (it adds a long text of its own), that excess and a quarter
// more is added.
Result<store::Reserved> Worker::reserve(const Outgoing& outgoing, const Request& request,
                                        const Length& length) {
  store::NewCall call;
  call.provider = provider_->name();
  call.model = provider_->model();
  call.session = outgoing.session.id;
  call.batch = request.batch_id;
  call.events = std::ssize(outgoing.events);
  if (outgoing.turn) call.purpose = outgoing.turn->purpose;
  const std::int64_t excess = std::max<std::int64_t>(0, TRY(store::most_excess(db_, call.provider)));
  call.input_tokens = length.tokens + most_input_tokens(request) + excess + excess / 4;
  call.output_tokens = request.max_output_tokens;
  if (const auto price = price_of(call.model, options_.prices))
    call.cost_usd = price->most(call.input_tokens, call.output_tokens);
  store::Reserved reserved;
  TRY(store::in_transaction(db_, [&]() -> Status {
    reserved = TRY(store::reserve_call(db_, call, options_.daily, clock_.now()));
    return {};
  }));
  return reserved;
}

// No call is made. With a reason (the budget is used up) the batch ends with what the built-in distiller
// made, and its turns become backlog; a turn of the backlog stays there. Without one, the material could
// not be read: the batch is tried again.
Status Worker::end_here(Outgoing& outgoing, const std::string& why) {
  if (why.empty()) {
    if (outgoing.batch)
      return return_batch(*outgoing.batch, "it could not be read", false, store::retry_delay(0, 0));
    look_at_ = after(kRefusedAgain);
    return {};
  }
  if (refused_.empty()) log_.warn("model calls: " + why);  // once, until a call is made again
  refused_ = why;
  if (outgoing.turn) {
    look_at_ = after(kRefusedAgain);
    return {};
  }
  ended_here_ = {*std::move(outgoing.batch), true};
  TRY(finish_ended_here());
  return {};
}

Worker::Dialog& Worker::conversation_for(const store::Session& session,
                                         const std::optional<MemoryId>& resume) {
  if (dialogs_.size() >= options_.max_concurrent) make_room();
  const Start start{session.id, session.project, resume};
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
    if (!it->second.sent && (oldest == dialogs_.end() || it->second.used_at < oldest->second.used_at))
      oldest = it;
  if (oldest == dialogs_.end()) return;
  end(oldest->first, oldest->second, true);
  dialogs_.erase(oldest);
}

// Ends a conversation. `in_order`: nothing is under way in it, so a later one may resume it. Otherwise the
// model may have a prompt whose reply was not read. The caller removes the dialog: step() still iterates
// over them.
void Worker::end(SessionId session, Dialog& dialog, bool in_order) {
  dialog.over = true;
  dialog.conversation.reset();
  dialog.sent.reset();
  if (in_order)
    may_resume_[session] = dialog.length;
  else
    may_resume_.erase(session);
}

}  // namespace cairn::agent
