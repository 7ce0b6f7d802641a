// Sessions and turns that another tool remembered, which have no events, and their prompts and notes.
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

// Records that a turn of an imported session was active at `at`: adds it as an ended turn, or extends it.
Status note_imported_turn(Db& db, SessionId session, std::int64_t number, WallTime at);
// Ends the session with its last turn, or at `at` if that is later. Its transcript is not read.
Status end_imported_session(Db& db, SessionId session, WallTime at, std::string_view reason);
// The number of the prompt with that text in the session.
Result<std::optional<std::int64_t>> prompt_with_text(Db& db, SessionId session, std::string_view text);
Result<std::optional<std::int64_t>> prompt_row(Db& db, SessionId session, std::int64_t number);

// Makes the observations of a batch notes, which every session of their project gets. Observations that are
// or were notes do not change.
Status add_notes_of_batch(Db& db, const std::string& batch);

}  // namespace cairn::store
