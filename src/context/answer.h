// The answer to a hook that asks for one: which events get context, how much of it, and the receipt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "os/disk.h"
#include "store/sql.h"

namespace cairn::context {

struct AnswerOptions {
  std::string key;
  os::Disk* disk = nullptr;  // as Request::disk
  std::size_t budget_tokens = 2000;
  std::vector<std::string> sources = {"startup", "clear", "compact", "resume"};  // context.sources
  bool notice = true;                                                            // context.notice
};

struct Answer {
  std::string line;                     // what the hook prints
  std::optional<std::int64_t> receipt;  // to be confirmed when it says that it did
};

// The SessionStart that context is owed to, and the event that asks for it: itself, or a later prompt of its
// session.
struct Debt {
  EventId start;
  std::string source;
  SessionId session;
  std::string asked_by;  // the asking event's name
};

// What is owed to `event`, which must have been taken in. SessionStart: always. UserPromptSubmit: what its
// session's last SessionStart should have been given and was not. Others: nothing.
Result<std::optional<Debt>> debt_of(store::Db& db, const EventId& event);

// Pays it: startup, clear, compact, none or an unknown source get all of it; resume what is new since the
// session was last given any, and all of it if it never was. Writes one receipt, in the caller's transaction,
// also when there was nothing to give. `warnings` are told to the user in one line beside the notice.
Result<Answer> answer(store::Db& db, const Debt& debt, const AnswerOptions& options,
                      const std::vector<std::string>& warnings, WallTime now);

}  // namespace cairn::context
