// Notes: observations that a person stored by hand, given whole to every session until they are done. And
// what prompts ordered for good, as candidates for notes.
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
};

// Makes an observation a note. In the caller's transaction.
Status add_note(Db& db, ObservationId observation, bool for_all);
// Nobody is given it any more; search still finds it. `not_found` when the observation is no note.
Status end_note(Db& db, std::int64_t observation, WallTime at);
// Those that a session of `project` is given, the newest first: its own and those for all projects.
Result<std::vector<Note>> notes_for(Db& db, const std::string& project, std::size_t limit);

struct StandingOrder {
  std::int64_t prompt = 0;  // user_prompts.id
  std::string text;
};

// What the prompt of a turn ordered for good, in place of what stood there.
Status put_standing_orders(Db& db, SessionId session, std::int64_t prompt_number,
                           const std::vector<std::string>& orders, WallTime at);
// Those that nobody has ended, each once, the newest first.
Result<std::vector<StandingOrder>> standing_orders(Db& db, const std::string& project, std::size_t limit);
// Ends those of a prompt; how many there were.
Result<std::int64_t> end_standing_orders(Db& db, std::int64_t prompt, WallTime at);

}  // namespace cairn::store
