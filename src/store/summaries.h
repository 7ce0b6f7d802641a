// Summaries: one row per (session, prompt number), written first by the built-in distiller and replaced in
// place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "event/origin.h"
#include "event/provider_name.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

struct Summary {
  std::int64_t id = 0;
  SessionId session_row;
  std::string session;  // content id of its session
  SessionStatus session_status = SessionStatus::active;
  std::string project;
  std::optional<std::string> branch, worktree;
  std::string provider{event::kBuiltin};
  bool interim = false;  // its turn was still open
  std::int64_t prompt_number = 0;
  std::string request, investigated, learned, completed, next_steps, notes;
  std::vector<std::string> files_read, files_edited;
  std::vector<std::string> rules;     // of the person, as a model understood them
  std::int64_t discovery_tokens = 0;  // about what its turn's events took to read
  WallTime created_at;
  WallTime updated_at;
  TurnEnd turn_end = TurnEnd::none;
  Origins origins;  // of its turn's events: web, mcp
};

// Writes the summary of a turn and replaces an earlier one. A built-in summary never replaces a model's: then
// nothing is written, and the result is false.
Result<bool> put_summary(Db& db, const MemoryId& memory, const Summary& summary, WallTime now);

Result<std::optional<Summary>> find_summary(Db& db, std::int64_t id);
Result<std::vector<Summary>> session_summaries(Db& db, SessionId session);
Result<std::optional<Summary>> summary_of_turn(Db& db, SessionId session, std::int64_t number);
// The summaries of its last turns, oldest first.
Result<std::vector<Summary>> last_summaries(Db& db, SessionId session, std::size_t limit);

}  // namespace cairn::store
