// What somebody searches for, read from the text they typed. Any text is a query: nothing in it is a syntax
// error, and nothing of it reaches the index but words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cairn::recall {

struct Query {
  std::string words;                 // any of them; the more and the rarer, the better
  std::vector<std::string> phrases;  // "in quotes": each must occur
  std::vector<std::string> without;  // -word: none may occur
  // Filters; empty: none. Also as `type:bugfix`, `file:src/x.cpp`, `since:2w` within the text.
  std::string kind;  // observation, summary, prompt
  std::string type;
  std::string concept_name;
  std::string file;
  std::optional<WallTime> since;
  std::optional<WallTime> until;
};

// Reads the text. A filter whose value makes no sense is taken as words.
Query read_query(std::string_view text, WallTime now);

// A moment as people write it, where they are: "2h", "3d", "2w", "6mo", "1y" ago; "today", "yesterday";
// "2026-10-01", "2026-10", "2026-10-01 14:30"; with a Z at its end in UTC. A day stands for its first moment,
// with `end` for its last. `invalid` names the forms.
Result<WallTime> read_moment(std::string_view text, WallTime now, bool end = false);

}  // namespace cairn::recall
