// The work queue. A message waits (pending) until its turn has ended, is claimed with others of its session
// under a lease (processing), and ends as processed or, when it keeps failing, as failed. Nothing is dropped:
// its texts move to evidence.
//
// A session's messages are worked in their order, one batch at a time, and the session that has waited
// longest comes first. Every function stands in the caller's transaction on the writer's connection.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

struct NewMessage {
  std::int64_t event_seq = 0;
  SessionId session;
  ContentId content_id;
  std::string_view type = "observation";  // or summarize
  std::optional<std::string> tool_name;
  std::optional<std::string> tool_input;
  std::optional<std::string> tool_response;
  std::optional<std::string> extra;
  std::optional<std::string> cwd;
  std::optional<std::string> last_user_message;
  std::optional<std::string> last_assistant_message;
  std::optional<std::int64_t> prompt_number;
  WallTime created_at;
};

Result<MessageId> enqueue(Db& db, const NewMessage& message);

struct Batch {
  std::string id;
  std::string lease;
  SessionId session;
  std::vector<MessageId> messages;  // in their order
};

// Claims up to `max` pending messages of the session that has waited longest: those whose turn has ended, in
// their order, up to the first that waits for a retry. A message that was left behind is claimed alone. A
// session of which a batch is in work is passed over. Nothing to do: nothing.
Result<std::optional<Batch>> claim(Db& db, WallTime now, std::size_t max, Millis lease);

// The heartbeat of whoever works on the batch: its lease ends `lease` from now. False: it is no longer ours.
Result<bool> extend_lease(Db& db, const Batch& batch, WallTime now, Millis lease);

// Ends a batch: its texts move to evidence, its rows are processed. Fails with `canceled`, and the
// transaction must be rolled back, unless exactly the claimed rows are still processing under this lease.
Status complete(Db& db, const Batch& batch, WallTime now);

// How often a message is tried again, and the seed of the jitter between the tries.
struct RetryPolicy {
  int max_retries = 3;  // 0: the first failure is final
  std::uint64_t seed = 0;
};

// The pause before retry number `retry` (0 is the first): 1 s doubling to 5 min, give or take a quarter.
Millis retry_delay(std::int64_t retry, std::uint64_t seed);

// Gives a batch back after an error of its own: each message waits for its next try, the last of which it
// makes alone, or is failed when it had them all. Returns how many rows that were, at most those still ours.
Result<std::int64_t> give_back(Db& db, const Batch& batch, std::string_view reason, const RetryPolicy& policy,
                               WallTime now);

// Gives a batch back that could not be worked through no fault of its own: no try is counted. It is not
// claimed again before `not_before`.
Result<std::int64_t> release(Db& db, const Batch& batch, std::string_view reason, WallTime not_before = {});

// Why a message waits for its session's memory id: while its batch is held, and once it went back.
inline constexpr std::string_view kAwaitingId = "awaiting_memory_session_id";
inline constexpr std::string_view kNeverCaptured = "memorySessionId not yet captured after retries";
// Says on the messages of a batch in work why its end is put off, and until when.
Status note_waiting(Db& db, const Batch& batch, std::string_view reason, WallTime until);

// What became of messages that were taken back from processing.
struct Recovered {
  std::int64_t waiting = 0;
  std::int64_t failed = 0;
};
// Messages that whoever worked on them left in processing wait again, each to be claimed alone. One that had
// been claimed alone has used up a try, and is failed when that was its last.
//
// All of them: for a start, when nobody can be working on them.
Result<Recovered> recover_all(Db& db, int max_retries, WallTime now);
// Those whose lease has lapsed, or was given by a clock that has been set back since.
Result<Recovered> recover_lapsed(Db& db, int max_retries, WallTime now);
// Those that were claimed more than `age` ago; 0 is all of them, whenever they were.
Result<Recovered> recover_stuck(Db& db, Millis age, int max_retries, WallTime now);

}  // namespace cairn::store
