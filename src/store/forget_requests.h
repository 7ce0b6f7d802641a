// Records that agents asked to forget. Such a record is hidden at once; a person then forgets it or keeps it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"
#include "store/standing.h"

namespace cairn::store {

struct ForgetRequest {
  RecordName record;
  std::string project;
  std::string reason;
  WallTime at;
};

// Hides the record and adds the request, in the caller's transaction. False: it is hidden already.
Result<bool> request_forget(Db& db, const ForgetRequest& request);
// The requests that wait, oldest first; of all projects when none is given.
Result<std::vector<ForgetRequest>> forget_requests(Db& db, const std::optional<std::string>& project);
// Whether an agent asked to forget a record of that turn. Then its tool calls and passages are hidden too.
Result<bool> is_turn_requested(Db& db, const std::string& content_session_id, std::int64_t prompt_number);
// Ends the request. `keep`: the record is shown again. False: there was no request.
Result<bool> end_forget_request(Db& db, const RecordName& record, bool keep, WallTime now);

}  // namespace cairn::store
