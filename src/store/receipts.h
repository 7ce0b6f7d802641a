// Receipts of context: what was composed for a session, and whether its hook confirmed that it printed it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

struct Receipt {
  std::int64_t id = 0;
  EventId event;
  SessionId session;
  std::string content_session;  // the host's id of it; when read
  std::string project;
  std::string event_name;
  std::string source;            // of the start of the session: startup, resume, clear, compact
  std::string kind = "context";  // or help: given at an event in the middle of work
  std::int64_t tokens = 0;
  std::int64_t characters = 0;
  std::string text_hash;
  std::string items = "[]";  // ids of what it showed: ["S12","O7"]
  WallTime up_to;            // the context considered everything written until then
  WallTime created_at;
  std::optional<WallTime> given_at;
};

Result<std::int64_t> add_receipt(Db& db, const Receipt& receipt);
Status confirm_receipt(Db& db, std::int64_t id, WallTime at);

// Whether the session's hook confirmed a receipt for that event.
Result<bool> was_given(Db& db, SessionId session, const EventId& event);
// The newest first: of a project, or of all.
Result<std::vector<Receipt>> list_receipts(Db& db, const std::optional<std::string>& project,
                                           std::int64_t limit);
// The session's last receipt of context that its hook confirmed.
Result<std::optional<Receipt>> last_given(Db& db, SessionId session);

}  // namespace cairn::store
