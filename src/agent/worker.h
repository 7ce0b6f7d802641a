// The worker: takes batches from the queue, sends them to the provider, and stores what it learned.
//
// The reply is stored in the same transaction that ends the batch's messages, so that a retry never stores it
// twice. Nothing is stored before the conversation's id is registered: an earlier reply waits, and when the
// id never comes, the messages return to the queue. Sessions do not wait for each other. Without a provider,
// or beyond the session's budget, the texts become evidence at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "agent/provider.h"
#include "base/log.h"
#include "base/result.h"
#include "gate/gate.h"
#include "os/clock.h"
#include "store/budget.h"
#include "store/queue.h"
#include "store/sessions.h"
#include "store/sql.h"

namespace cairn::agent {

// Belongs to the writer's thread.
class Worker {
 public:
  struct Options {
    int max_retries = 3;
    Millis lease = std::chrono::minutes(5);
    std::size_t max_events = 200;    // per batch, so that a transaction stays well below 50 ms
    std::size_t max_concurrent = 4;  // conversations at once
    Millis reply_within = std::chrono::minutes(5);
    store::SessionBudget budget;
    Millis idle = std::chrono::minutes(10);  // then an unused conversation ends
  };

  Worker(store::Db& db, os::Clock& clock, Log& log, Provider* provider)
      : db_(db), clock_(clock), log_(log), provider_(provider) {}

  // A provider's replies pass `gate` before they are stored.
  void configure(const Options& options, gate::Gate gate) {
    options_ = options;
    gate_ = std::move(gate);
  }

  // Does some work. False: nothing to do now.
  Result<bool> step();
  // When step() must be called again even if nothing else happens (boot ns); nothing: no need.
  std::optional<std::int64_t> wake_at() const;
  // Whether a batch has been sent and is not finished.
  bool awaits() const;
  // Ends all conversations. Their batches return to the queue, and no try is counted.
  Status stop();

  // Messages finished since this was made.
  std::int64_t processed() const { return processed_; }

 private:
  struct Run {  // a batch that was sent
    store::Batch batch;
    std::optional<Reply> reply;
    int tries = 0;                                       // of storing the reply without a memory id
    std::int64_t try_at = 0, beat_at = 0, deadline = 0;  // boot ns
  };
  struct Dialog {  // the conversation about a session
    std::unique_ptr<Conversation> conversation;
    std::optional<Message> received;  // kept until it is handled: writing to the store may fail
    MemoryId id;                      // the provider's, once known
    bool session_active = false;      // its session was active when it began
    bool over = false;
    int notes = 0;  // messages without a reply since the last batch was sent
    std::int64_t used_at = 0;
    std::optional<Run> run;
  };

  Result<bool> begin();
  Result<std::optional<std::int64_t>> next_due();
  Status send(store::Batch batch);
  Dialog& conversation_for(const store::Session& session, std::int64_t prompt);
  void make_room();
  Result<Request> request_for(const store::Batch& batch);
  Result<bool> finish_unsent();

  Result<bool> advance(SessionId session, Dialog& dialog);
  Result<bool> end_with_session(SessionId session, Dialog& dialog);
  Result<bool> receive(SessionId session, Dialog& dialog);
  Status capture(SessionId session, Dialog& dialog, const MemoryId& id);
  Result<bool> store_reply(SessionId session, Dialog& dialog);
  Result<bool> wait_for_id(SessionId session, Dialog& dialog);
  Result<std::optional<MemoryId>> memory_of(SessionId session, const Dialog& dialog);
  Status store(SessionId session, const Run& run, const MemoryId& memory);
  Status keep_alive(SessionId session, Dialog& dialog);
  Status fail_batch(SessionId session, Dialog& dialog, const Trouble& trouble);
  Status return_batch(const store::Batch& batch, std::string_view reason, bool counts, Millis pause);
  void end(SessionId session, Dialog& dialog, bool in_order);
  std::int64_t after(Millis time) const;

  store::Db& db_;
  os::Clock& clock_;
  Log& log_;
  Provider* provider_;
  Options options_;
  gate::Gate gate_{gate::Rules{}};
  std::map<SessionId, Dialog> dialogs_;
  std::set<SessionId> may_resume_;       // their last conversation ended cleanly, in this process
  std::map<SessionId, int> without_id_;  // how many conversations in a row never had an id
  std::optional<store::Batch> unsent_;   // claimed, needs no provider, not completed yet
  int failures_ = 0;                     // of the provider, in a row
  std::int64_t paused_until_ = 0;        // no new calls before (boot ns)
  std::optional<std::int64_t> retry_at_ =
      0;  // when to look for batches that wait for a retry; 0: at the first step
  std::int64_t processed_ = 0;
};

}  // namespace cairn::agent
