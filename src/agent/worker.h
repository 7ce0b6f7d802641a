// The worker: takes batches from the queue, sends them to the provider, and stores what it learned.
//
// The reply is stored in the same transaction that ends the batch's messages, so that a retry never stores it
// twice. Nothing is stored before the conversation's id is registered: an earlier reply waits, and when the
// id never comes, the messages return to the queue. Sessions do not wait for each other. Without a provider,
// beyond a budget, or while the provider fails, a batch ends at once, and what the built-in distiller made of
// its events stays. Turns that the provider could not do then are noted as backlog. It does them later,
// newest first.
//
// Every call has a row in the ledger before it is made, with the most that it can use.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/breaker.h"
#include "agent/prompt.h"
#include "agent/provider.h"
#include "agent/reply.h"
#include "base/log.h"
#include "base/result.h"
#include "distil/distil.h"
#include "gate/gate.h"
#include "intake/summarise.h"
#include "os/clock.h"
#include "store/budget.h"
#include "store/evidence.h"
#include "store/model_calls.h"
#include "store/queue.h"
#include "store/redistil.h"
#include "store/sessions.h"
#include "store/sql.h"

namespace cairn::agent {

// How the ledger names a call that failed like this.
store::ModelCallOutcome outcome_of(Trouble::Kind kind);

// Belongs to the writer's thread.
class Worker {
 public:
  struct Options {
    int max_retries = 3;
    Millis lease = std::chrono::minutes(5);
    std::size_t max_events = 200;   // of a batch without a provider, so that a transaction stays below 50 ms
    std::size_t batch_events = 40;  // agent.batch_max_events: of a batch for a provider
    std::size_t batch_bytes = 60'000;  // of their texts
    Millis batch_wait{0};              // agent.batch_wait_seconds
    std::size_t max_concurrent = 4;    // conversations at once
    bool fallback = true;              // agent.fallback: the built-in distiller while the provider fails
    Millis reply_within = std::chrono::minutes(5);
    store::SessionBudget budget;
    store::DailyBudget daily;
    std::vector<std::string> prices;         // agent.prices
    Millis idle = std::chrono::minutes(10);  // then an unused conversation ends
    // A conversation beyond one of these is replaced by a fresh one.
    std::int64_t most_input_tokens = kMostConversation;
    int most_turns = 20;
    Millis backlog_age = std::chrono::hours(24 * 7);  // older backlog keeps its built-in form
    intake::FillTexts archived;                       // texts of events that are only in the archive
  };

  Worker(store::Db& db, os::Clock& clock, Log& log, Provider* provider)
      : db_(db), clock_(clock), log_(log), provider_(provider) {}

  // A provider's replies pass `gate` before they are stored. `mode`: what to ask for.
  void configure(const Options& options, gate::Gate gate, distil::Mode mode) {
    options_ = options;
    gate_ = std::move(gate);
    mode_ = std::move(mode);
  }
  // Works with another provider, or without one. Batches in work return to the queue.
  Status use(Provider* provider);

  // At a start: ends the calls that a dead daemon left open in the ledger.
  Status start();
  // Does some work. False: nothing to do now.
  Result<bool> step();
  // When step() must be called again even if nothing else happens (boot ns); nothing: no need.
  std::optional<std::int64_t> wake_at() const;
  // Whether a batch has been sent and is not finished.
  bool awaits() const;
  // Makes the messages that are in the queue now not wait for more of them.
  void hurry() { hurry_ = true; }
  // Call when turns were added to the backlog: makes step() look for them at once.
  void look_again() { look_at_ = 0; }
  // Ends all conversations. Their batches return to the queue, and no try is counted.
  Status stop();

  // Messages finished since this was made.
  std::int64_t processed() const { return processed_; }

 private:
  struct Sent {                                 // a request that was sent
    std::optional<store::Batch> batch;          // the claimed batch; empty when `turn` is set
    std::optional<store::RedistilTurn> turn;    // the turn of which a piece is distilled again
    std::vector<std::int64_t> events;           // the events in the request
    std::string id;                             // batch id of the observations
    std::int64_t call = 0;                      // number of the call in the ledger
    std::int64_t sent_at = 0, sent_tokens = 0;  // when it was sent (boot ns); estimated tokens
    std::optional<Reply> reply;
    Scanned scanned;                                     // the reply
    int tries = 0;                                       // of storing the reply without a memory id
    std::int64_t try_at = 0, beat_at = 0, deadline = 0;  // boot ns
  };
  struct Length {  // of a conversation
    std::int64_t tokens = 0;
    int turns = 0;
  };
  struct Dialog {  // the conversation about a session
    std::unique_ptr<Conversation> conversation;
    std::optional<ProviderMessage> received;  // kept until it is handled: writing to the store may fail
    MemoryId id;                              // the provider's, once known
    bool session_active = false;              // its session was active when it began
    bool over = false;
    int notes = 0;  // messages without a reply since the last batch was sent
    std::int64_t used_at = 0;
    Length length;
    std::optional<Millis> pause;  // after an error; set once the breaker has counted it
    std::optional<Sent> sent;
  };
  // Claimed, and ended without the provider.
  struct EndedHere {
    store::Batch batch;
    bool backlog = false;  // the provider does its turns later
  };
  // What is to be sent.
  struct Outgoing {
    std::optional<store::Batch> batch;
    std::optional<store::RedistilTurn> turn;
    store::Session session;
    std::vector<store::KeptEvent> events;
  };

  Result<bool> begin();
  std::size_t end_batches();
  Result<bool> claim_batch(bool may_call, bool due);
  Result<bool> begin_redistil(bool may_call);
  Result<bool> redistil_builtin();
  Result<std::optional<std::int64_t>> next_due(bool waits);
  Status pause_after_host_refusal();
  std::size_t calls() const;

  Status send_batch(store::Batch batch);
  Status send_turn(const store::RedistilTurn& turn);
  Result<std::vector<store::KeptEvent>> events_of(const store::Batch& batch);
  Result<std::vector<store::KeptEvent>> events_of(const store::RedistilTurn& turn,
                                                  const store::Session& session);
  Status send(Outgoing outgoing);
  Status end_here(Outgoing& outgoing, const std::string& why);
  Result<store::Reserved> reserve(const Outgoing& outgoing, const Request& request, const Length& length);
  Dialog& conversation_for(const store::Session& session, const std::optional<MemoryId>& resume);
  void make_room();
  Result<bool> finish_ended_here();
  Status store_ended_here();  // within a transaction
  void note_finished();

  Result<bool> advance(SessionId session, Dialog& dialog);
  Result<bool> end_with_session(SessionId session, Dialog& dialog);
  Result<bool> receive(SessionId session, Dialog& dialog);
  Status take_reply(Dialog& dialog, Reply& reply);
  Status capture(SessionId session, Dialog& dialog, const MemoryId& id);
  Result<bool> store_reply(SessionId session, Dialog& dialog);
  Result<bool> wait_for_id(SessionId session, Dialog& dialog);
  Result<std::optional<MemoryId>> memory_of(SessionId session, const Dialog& dialog);
  Status store(SessionId session, const Sent& sent, const MemoryId& memory);
  Status put_rows(const store::Session& session, const Sent& sent, const MemoryId& memory,
                  const std::vector<store::KeptEvent>& events, store::Put& put);
  Status keep_alive(SessionId session, Dialog& dialog);
  Status fail_batch(SessionId session, Dialog& dialog, const Trouble& trouble);
  Millis count_trouble(const Trouble& trouble);
  Status note_trouble(const Trouble& trouble, Millis pause);
  Status end_call(Sent& sent, store::ModelCallOutcome outcome, const Usage& usage, const std::string& model,
                  bool estimated);
  Status return_sent(Sent& sent, std::string_view reason, bool counts, Millis pause);
  Status return_batch(const store::Batch& batch, std::string_view reason, bool counts, Millis pause);
  void end(SessionId session, Dialog& dialog, bool in_order);
  std::int64_t after(Millis time) const;

  store::Db& db_;
  os::Clock& clock_;
  Log& log_;
  Provider* provider_;
  Options options_;
  gate::Gate gate_{gate::Rules{}};
  distil::Mode mode_ = distil::code_mode();
  std::map<SessionId, Dialog> dialogs_;
  std::map<SessionId, Length> may_resume_;  // their last conversation ended cleanly, in this process
  std::map<SessionId, int> without_id_;     // how many conversations in a row never had an id
  std::optional<EndedHere> ended_here_;
  Breaker breaker_;
  std::optional<WallTime> host_failed_at_;  // the host's last failure that was handled
  std::string refused_;                     // why the budget allowed no call, last
  bool hurry_ = false;
  std::int64_t look_at_ = 0;  // when to look for backlog again (boot ns)
  // When to look for batches that wait for a retry or for more messages (boot ns); 0: at the first step.
  std::optional<std::int64_t> retry_at_ = 0;
  std::int64_t processed_ = 0;
};

}  // namespace cairn::agent
