// Notes: observations that a person stored by hand. Every session gets them in full until they are done. And
// standing orders: sentences of prompts with "always" or "never", as candidates for notes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

struct Note {
  std::int64_t observation = 0;
  std::string project;
  bool for_all = false;  // given to the sessions of every project
  std::string title;
  std::string text;  // the whole of it
  WallTime created_at;
  bool is_stale = false;  // a file that it is about changed since; the caller sets it, the store does not
};

// Makes an observation a note. In the caller's transaction.
Status add_note(Db& db, ObservationId observation, bool for_all);
// Ends a note: sessions no longer get it, search still finds it. `not_found` when the observation is not a
// note.
Status end_note(Db& db, std::int64_t observation, WallTime at);
// Undoes end_note().
Status give_note_again(Db& db, std::int64_t observation);
// The notes that a session of `project` gets, newest first: those of the project and those for all projects.
Result<std::vector<Note>> notes_for(Db& db, const std::string& project, std::size_t limit);

// Whether an observation is a note, and how it stands.
struct NoteState {
  bool for_all = false;
  std::optional<WallTime> done_at;
};
// Nothing: it is no note.
Result<std::optional<NoteState>> note_state(Db& db, std::int64_t observation);
// Makes it as it was; without a state it is no note.
Status put_note_state(Db& db, std::int64_t observation, const std::optional<NoteState>& state);

struct StandingOrder {
  std::int64_t prompt = 0;  // user_prompts.id
  std::string text;
};

// Stores the standing orders in the prompt of a turn, and replaces earlier ones of that turn.
Status put_standing_orders(Db& db, SessionId session, std::int64_t prompt_number,
                           const std::vector<std::string>& orders, WallTime at);
// The standing orders that were not ended, each once, newest first.
Result<std::vector<StandingOrder>> standing_orders(Db& db, const std::string& project, std::size_t limit);
// Ends the standing orders of a prompt. Returns their number.
Result<std::int64_t> end_standing_orders(Db& db, std::int64_t prompt, WallTime at);

}  // namespace cairn::store
