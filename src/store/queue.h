// The work queue between intake and the worker. A message is `pending`. Once its turn has ended it can be
// claimed with others of its session, under a lease (`processing`). It ends as `processed`, or after its last
// retry as `failed`; before a retry it is `pending` again. The texts of its event are evidence from the
// beginning: they stay whatever becomes of the message.
//
// The messages of a session are processed in their order, one batch at a time. The session that has waited
// longest comes first. Every function runs in the caller's transaction on the writer's connection.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/evidence.h"
#include "store/sql.h"

namespace cairn::store {

struct NewMessage {
  std::int64_t event_seq = 0;
  SessionId session;
  ContentId content_id;
  std::string_view type = "observation";  // or summarize
  std::optional<std::string> tool_name;
  Texts texts;
  std::optional<std::string> cwd;
  std::optional<std::string> last_user_message;
  std::optional<std::string> last_assistant_message;
  std::optional<std::int64_t> prompt_number;
  WallTime created_at;
};

// Stores the message, and its texts as evidence of its event.
Result<MessageId> enqueue(Db& db, const NewMessage& message);
// Finds out for every message whether its turn has ended. Call it after a repair that may have lost turns.
Status refresh_ready(Db& db);

struct Batch {
  std::string id;
  std::string lease;
  SessionId session;
  std::vector<MessageId> messages;  // in their order
};

// Claims up to `max` pending messages of the session that has waited longest: those whose turn has ended, in
// their order, up to the first that waits for a retry. A message that was recovered from a dead worker is
// claimed alone. Skips sessions that have a batch in processing. Empty when there is nothing to do.
Result<std::optional<Batch>> claim(Db& db, WallTime now, std::size_t max, Millis lease);

// How messages are gathered for a provider.
struct Gather {
  std::size_t max = 200;      // messages
  std::size_t max_bytes = 0;  // of their texts, as a request shows them; 0: no limit
  Millis lease = std::chrono::minutes(5);
  // A session's messages wait for more of them until one of these holds: nothing came for this long; there
  // are `max`; the oldest waited five times as long; the oldest was tried before; the session has ended, and
  // its transcript was read or awaited for 30 s. 0: they wait for nothing.
  Millis wait{0};
};
Result<std::optional<Batch>> claim(Db& db, WallTime now, const Gather& gather);
// The turns of a claimed batch, each with its first event in the batch.
struct BatchTurn {
  std::int64_t number = 0, first_event = 0;
};
Result<std::vector<BatchTurn>> batch_turns(Db& db, const Batch& batch);

// The worker's heartbeat: the lease now ends `lease` from now. False: the batch is no longer ours.
Result<bool> extend_lease(Db& db, const Batch& batch, WallTime now, Millis lease);

// Ends a batch: its rows become `processed`, its calls are to be indexed. Fails with `canceled` unless
// exactly the claimed rows are still processing under this lease; the caller must then roll back.
Status complete(Db& db, const Batch& batch, WallTime now);

// How often a message is tried again, and the seed of the jitter between the tries.
struct RetryPolicy {
  int max_retries = 3;  // 0: the first failure is final
  std::uint64_t seed = 0;
};

// The pause before retry number `retry` (0 is the first): 1 s doubling to 5 min, give or take a quarter.
Millis retry_delay(std::int64_t retry, std::uint64_t seed);

// Returns a batch after an error that its messages may have caused. Each message waits for its next try, or
// fails when it has used them all. The last try is made alone. Returns the number of rows changed: at most
// those still ours.
Result<std::int64_t> return_with_retry(Db& db, const Batch& batch, std::string_view reason,
                                       const RetryPolicy& policy, WallTime now);

// Returns a batch after an error that its messages did not cause: no try is counted. It is not claimed again
// before `not_before`, if that is at most ten minutes from now: a later time counts as an old clock's.
Result<std::int64_t> return_without_retry(Db& db, const Batch& batch, std::string_view reason,
                                          WallTime not_before = {});

// The reason of a message that waits for its session's memory id: while it is claimed, and after it was
// returned.
inline constexpr std::string_view kAwaitingId = "awaiting_memory_session_id";
// The reason after the last try: the id never came.
inline constexpr std::string_view kNeverCaptured = "memorySessionId not yet captured after retries";
// Records on the messages of a claimed batch why storing the reply is delayed, and until when.
Status note_waiting(Db& db, const Batch& batch, std::string_view reason, WallTime until);

// How many messages were recovered from processing.
struct Recovered {
  std::int64_t waiting = 0;
  std::int64_t failed = 0;
};
// These make messages in `processing` pending again, when their worker died or hangs. Each is then claimed
// alone, so that one bad message cannot block the others. A message that had been claimed alone has used a
// try, and fails when that was its last.
//
// All of them: at a start, when no worker can be running.
Result<Recovered> recover_all(Db& db, int max_retries, WallTime now);
// Those whose lease has expired, or was given before the clock was set back.
Result<Recovered> recover_lapsed(Db& db, int max_retries, WallTime now);
// Those that were claimed more than `age` ago; 0 means all of them.
Result<Recovered> recover_stuck(Db& db, Millis age, int max_retries, WallTime now);

}  // namespace cairn::store
