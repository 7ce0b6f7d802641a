// Answers a hook that asks for context: which events get it, how much, and the receipt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "context/composer.h"
#include "event/start_reason.h"
#include "os/disk.h"
#include "store/sql.h"

namespace cairn::context {

struct AnswerOptions {
  std::string key;
  os::Disk* disk = nullptr;  // as Request::disk
  std::size_t budget_tokens = 2000;
  std::vector<std::string> sources = {"startup", "clear", "compact", "resume"};  // context.sources
  bool notice = true;                                                            // context.notice
  std::optional<StartDocument> lead;                                             // as Request::lead
  // Instruction files of the host, and the size beyond which they and our text are too much; 0: no limit.
  std::int64_t instruction_files = 0, instruction_bytes = 0, overhead_bytes = 0;
  std::int64_t overhead_reported_kb = 0;  // the size that the user was last warned about
};

struct Answer {
  std::string line;                     // what the hook prints
  std::optional<std::int64_t> receipt;  // confirmed when the hook has printed the line
  std::int64_t overhead_kb = 0;         // the user is warned about this size; 0: not warned
};

// Context that is due: for which start of a session, and the event that asks for it (the start itself, or a
// later prompt of its session).
struct Due {
  EventId start;
  std::string source;  // the reason of the start, as the host gave it
  event::StartReason reason = event::StartReason::startup;
  SessionId session;
  std::string asked_by;  // name of the asking event
};

// Whether the setting context.sources lets a start for this reason have context. A reason that we do not know
// is always allowed.
bool allows(const std::vector<std::string>& sources, event::StartReason reason);

// The context that `event` must get; the event must be stored already. The start of a session always gets
// context, a prompt only when the last start of its session got none, other events never.
Result<std::optional<Due>> due_to(store::Db& db, const EventId& event);

// Composes that context. A resumed session gets what is new since it last got context, others get everything.
// Writes one receipt in the caller's transaction, even when there was nothing to give. `warnings` are shown
// to the user in one line beside the notice.
Result<Answer> answer(store::Db& db, const Due& due, const AnswerOptions& options,
                      std::vector<std::string> warnings, WallTime now);

}  // namespace cairn::context
