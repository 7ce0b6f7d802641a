// Turns, prompts and summaries that another tool remembered: written as they were, without events.
//
// All within the caller's transaction, on the writer's connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"
#include "store/summaries.h"

namespace cairn::store {

// A turn of an imported session that was at work at `at`: added as ended, or made longer.
Status note_imported_turn(Db& db, SessionId session, std::int64_t number, WallTime at);
// The session ended with its last turn, or at `at` if that is later; no transcript of it is waited for.
Status end_imported_session(Db& db, SessionId session, WallTime at);
// The number of the prompt with that text in the session.
Result<std::optional<std::int64_t>> prompt_with_text(Db& db, SessionId session, std::string_view text);
Result<std::optional<std::int64_t>> prompt_row(Db& db, SessionId session, std::int64_t number);
// The summary of a turn.
Result<std::optional<Summary>> summary_of_turn(Db& db, SessionId session, std::int64_t number);

// Makes the observations of a batch notes that every session of their project is given. Those that are, or
// were, stay as they are.
Status add_notes_of_batch(Db& db, const std::string& batch);

}  // namespace cairn::store
