// What a person can do with the queue: count, retry, abort, clean up.
//
// Every function runs in the caller's transaction on the writer's connection; those that only count may use a
// reader's.
#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

// Makes a message pending again, with all its tries. False: it is processed or unknown.
Result<bool> retry_message(Db& db, MessageId id);
// The same for all messages of a session that are not processed. Returns how many.
Result<std::int64_t> retry_session(Db& db, SessionId session);
// Messages that wait for a retry are due now.
Status end_waits(Db& db);

// Deletes a message in any status. The texts of its event are not lost: they move to evidence. Its batch, if
// it is claimed, can no longer be completed. False: there is no such message.
Result<bool> abort_message(Db& db, MessageId id);

// Deletes processed messages beyond the newest `keep`. Returns how many.
Result<std::int64_t> clean(Db& db, std::int64_t keep);

struct QueueCounts {
  std::int64_t pending = 0, processing = 0, processed = 0, failed = 0;

  // What is still to be done. Failed messages do not count: they wait for a person.
  std::int64_t work() const { return pending + processing; }
};
Result<QueueCounts> queue_counts(Db& db);
Result<QueueCounts> queue_counts(Db& db, SessionId session);
// The sessions with work, in the order of their numbers.
Result<std::vector<SessionId>> sessions_with_work(Db& db);
// How many messages were claimed more than `age` ago and are still in work; 0 counts them all.
Result<std::int64_t> stuck_count(Db& db, Millis age, WallTime now);

// A longer queue is reported as a problem: messages arrive faster than they are processed, or nothing
// processes them.
inline constexpr std::int64_t kDeepQueue = 5000;

struct MessageOwner {
  SessionId session;
  ContentId content_id;
};
// Whose message it is; nothing when there is no such message.
Result<std::optional<MessageOwner>> owner_of(Db& db, MessageId id);

}  // namespace cairn::store
