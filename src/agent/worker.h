// The worker: takes batches from the queue, has the provider distil them, and stores what it learned.
//
// A batch is claimed, told, and stored in one transaction with the end of its messages, so that its effect
// comes once however often it is tried. Nothing is stored before the conversation's id is registered: a reply
// that comes earlier waits, and its messages go back when the id never comes. Sessions do not wait for each
// other. Without a provider, and beyond the session's budget, the texts move to evidence at once.
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
    std::size_t max_events = 200;    // messages a transaction: well below 50 ms
    std::size_t max_concurrent = 4;  // conversations at once
    Millis reply_within = std::chrono::minutes(5);
    store::SessionBudget budget;
    Millis idle = std::chrono::minutes(10);  // a conversation that nothing is told ends
  };

  Worker(store::Db& db, os::Clock& clock, Log& log, Provider* provider)
      : db_(db), clock_(clock), log_(log), provider_(provider) {}

  // What a provider says passes `gate` before it is stored.
  void configure(const Options& options, gate::Gate gate) {
    options_ = options;
    gate_ = std::move(gate);
  }

  // Does the next piece of work. False: there is none now.
  Result<bool> step();
  // When step() should be called again though nothing else happens (boot ns); nothing: no need.
  std::optional<std::int64_t> wake_at() const;
  // Whether a reply is being waited for.
  bool awaits() const;
  // Ends all conversations; what was in work waits in the queue again, no try counted.
  Status stop();

  // Messages finished since this was made.
  std::int64_t processed() const { return processed_; }

 private:
  struct Run {  // a batch that was told
    store::Batch batch;
    std::optional<Reply> reply;
    int tries = 0;                                       // of storing the reply without a memory id
    std::int64_t try_at = 0, beat_at = 0, deadline = 0;  // boot ns
  };
  struct Talk {  // the conversation about a session
    std::unique_ptr<Conversation> conversation;
    std::optional<Message> heard;  // received and not dealt with yet
    MemoryId id;                   // as it said
    bool live = false;             // its session was active
    bool over = false;
    int notes = 0;  // heard since it was last told something, beside its reply
    std::int64_t used_at = 0;
    std::optional<Run> run;
  };

  Result<bool> begin();
  Result<std::optional<std::int64_t>> next_due();
  Status tell(store::Batch batch);
  Talk& talk_about(const store::Session& session, std::int64_t prompt);
  void make_room();
  Result<Request> request_for(const store::Batch& batch);
  Result<bool> finish_untold();

  Result<bool> advance(SessionId session, Talk& talk);
  Result<bool> leave_ended(SessionId session, Talk& talk);
  Result<bool> hear(SessionId session, Talk& talk);
  Status capture(SessionId session, Talk& talk, const MemoryId& id);
  Result<bool> settle(SessionId session, Talk& talk);
  Result<bool> wait_for_id(SessionId session, Talk& talk);
  Result<std::optional<MemoryId>> memory_of(SessionId session, const Talk& talk);
  Status store(SessionId session, const Run& run, const MemoryId& memory);
  Status keep_alive(SessionId session, Talk& talk);
  Status give_up(SessionId session, Talk& talk, const Trouble& trouble);
  Status return_batch(const store::Batch& batch, std::string_view reason, bool counts, Millis pause);
  void end(SessionId session, Talk& talk, bool in_order);
  std::int64_t after(Millis time) const;

  store::Db& db_;
  os::Clock& clock_;
  Log& log_;
  Provider* provider_;
  Options options_;
  gate::Gate gate_{gate::Rules{}};
  std::map<SessionId, Talk> talks_;
  std::set<SessionId> may_resume_;       // their last conversation ended in order, in this process
  std::map<SessionId, int> uncaptured_;  // how often in a row the id never came
  std::optional<store::Batch> untold_;   // claimed, needs no provider, and its end not written yet
  int failures_ = 0;                     // of the provider, in a row
  std::int64_t paused_until_ = 0;        // no new calls before (boot ns)
  std::optional<std::int64_t> retry_at_ =
      0;  // when to look for batches that were given back; at first at once
  std::int64_t processed_ = 0;
};

}  // namespace cairn::agent
