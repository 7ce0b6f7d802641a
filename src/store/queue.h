// The work queue. A message waits (pending) until its turn has ended, is claimed with others of its session
// under a lease (processing), and ends as processed or, when it keeps failing, as failed. Nothing is dropped:
// its texts move to evidence.
//
// Every function stands in the caller's transaction on the writer's connection.
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
  std::vector<MessageId> messages;
};

// Claims up to `max` pending messages of the session that has waited longest and whose turn has ended.
// Nothing to do: nothing.
Result<std::optional<Batch>> claim(Db& db, WallTime now, std::size_t max, Millis lease);

// Ends a batch: its texts move to evidence, its rows are processed. Fails with `canceled`, and the
// transaction must be rolled back, unless exactly the claimed rows are still processing under this lease.
Status complete(Db& db, const Batch& batch, WallTime now);

// Gives a batch back after an error: a retry with its reason, or failed after `max_retries`.
Status give_back(Db& db, const Batch& batch, std::string_view reason, int max_retries, WallTime now);

// Messages that a dead daemon left in processing wait again. Returns how many.
Result<std::int64_t> recover(Db& db);

// Deletes processed messages beyond the newest `keep`.
Result<std::int64_t> clean(Db& db, std::int64_t keep);

struct QueueCounts {
  std::int64_t pending = 0, processing = 0, processed = 0, failed = 0;
};
Result<QueueCounts> queue_counts(Db& db);

}  // namespace cairn::store
