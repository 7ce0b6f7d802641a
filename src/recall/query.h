// A search query, read from the text that a person or an agent typed. Any text is a valid query, and only
// words of it reach the index: there is no syntax error and no injection.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "recall/times.h"

namespace cairn::recall {

struct Query {
  std::string words;                 // any may match; more and rarer matches rank higher
  std::vector<std::string> phrases;  // "in quotes": each must occur
  std::vector<std::string> without;  // -word: none may occur
  // Filters; empty: none. Also as `type:bugfix`, `file:src/x.cpp`, `since:2w` within the text.
  std::string kind;  // observation, summary, prompt, turn, open, document
  std::string type;
  std::string concept_name;
  std::string file;
  std::string project;  // instead of the caller's; who may ask for it is decided by the caller of search()
  std::string host;     // the coding agent of the session
  std::optional<WallTime> since;
  std::optional<WallTime> until;
  std::optional<Span> about;  // a time that the words name: what happened then comes first
  WallTime now;
};

// A filter with an invalid value is read as plain words.
Query read_query(std::string_view text, WallTime now);

// A time as people write it, in local time: "2h", "3d", "2w", "6mo", "1y" ago; "today", "yesterday";
// "2026-10-01", "2026-10", "2026-10-01 14:30"; with a Z at the end in UTC. A day means its first moment, with
// `end` its last. Fails with `invalid`; the message lists the forms.
Result<WallTime> read_moment(std::string_view text, WallTime now, bool end = false);

}  // namespace cairn::recall
