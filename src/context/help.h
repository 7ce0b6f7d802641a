// Help in the middle of work: what a compaction must keep, what fixed the same error before, what is
// remembered about the subject of a prompt, and a brief for a subagent. The hook of that event prints it,
// with a receipt, if the settings say so.
//
// Short by design: it is read in the middle of work. Stored text comes out as data, as in the context of a
// session's start.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "context/answer.h"
#include "store/sql.h"

namespace cairn::context {

// The longest texts, in characters as the host counts them.
inline constexpr std::size_t kMostKept = 1'500, kMostBrief = 500, kMostFix = 1'500, kMostHint = 1'500;

struct HelpOptions {
  std::string key;  // as AnswerOptions::key
  bool on_compact = true;
  bool on_failure = false;
  bool on_prompt = false;
  bool on_subagent = false;
};

// The help for an event that a hook has just delivered; the event must be stored already. Nothing: it gets
// none. Writes a receipt in the caller's transaction. Reads a bounded number of rows.
Result<std::optional<Answer>> help(store::Db& db, const EventId& event, const HelpOptions& options,
                                   WallTime now);

}  // namespace cairn::context
