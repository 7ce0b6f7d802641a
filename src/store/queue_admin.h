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
#include "store/queue.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

// Makes a message pending again, with all its tries. False: it is processed or unknown.
Result<bool> retry_message(Db& db, MessageId id);
// The same for all messages of a session that are not processed. Returns how many.
Result<std::int64_t> retry_session(Db& db, SessionId session);
// Messages that wait for a retry are due now.
Status end_waits(Db& db);

// Deletes a message in any status. The texts of its event stay, as evidence. Its batch, if it is claimed, can
// no longer be completed. False: there is no such message.
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

// When the oldest pending message came.
Result<std::optional<WallTime>> oldest_pending(Db& db);
// When the next message that waits for a retry is due.
Result<std::optional<WallTime>> next_retry(Db& db, WallTime now);

// A message with all its fields. kept_event() has the texts of its event.
struct Message {
  MessageId id;
  SessionId session;
  ContentId content_id;
  std::optional<std::string> project;
  std::string type;  // observation or summarize
  std::optional<std::string> tool_name, cwd;
  std::optional<std::int64_t> prompt_number;
  MessageStatus status = MessageStatus::pending;
  std::int64_t retries = 0;
  WallTime created_at;
  std::optional<WallTime> started_at, completed_at;
  std::optional<std::string> last_error;
  std::optional<std::string> last_user_message, last_assistant_message;
  std::int64_t event_seq = 0;
  std::optional<std::string> batch;
  WallTime not_before;
  bool solo = false;
};
Result<std::optional<Message>> find_message(Db& db, MessageId id);
// The messages of a batch, in order.
Result<std::vector<Message>> messages_of(Db& db, const Batch& batch);

struct MessageQuery {
  std::optional<MessageStatus> status;      // none: those that are not processed, what needs a person first
  std::optional<SessionId> session;         // none: of all
  std::optional<WallTime> processed_after;  // instead: those processed since, the newest first
  std::int64_t limit = 100;
};
Result<std::vector<Message>> list_messages(Db& db, const MessageQuery& query);

}  // namespace cairn::store
