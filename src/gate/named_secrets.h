// Secrets that are known by the name beside them: `DB_PASSWORD=...`, `"apiKey": "..."`, `--token ...`,
// `Authorization: Bearer ...`, a cookie. The value must look like one too; how much it must depends on the
// name.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "gate/char_runs.h"

namespace cairn::gate {

// A secret in a text.
struct Place {
  std::size_t begin = 0, end = 0;
  std::string_view kind;  // lives as long as the program
};

struct NameRead {
  std::size_t name_end = 0;  // where the name ends
  std::size_t judged = 0;    // what it cost, in characters
  std::size_t begin = 0;     // where it begins; `name_end` when it does not tell
};

// Reads the name around text[at], where a telling name's literal begins, and what it is given. Appends the
// values that are secrets. Judges no more than a few thousand characters. `runs` are those of the text.
NameRead find_named(std::string_view text, std::size_t at, Runs& runs, std::vector<Place>& found);

// The same for the name of a password that is the whole of text[begin, end). Says what it cost.
std::size_t find_behind(std::string_view text, std::size_t begin, std::size_t end, Runs& runs,
                        std::vector<Place>& found);

// The same for a member of a JSON object.
bool is_secret_under(std::string_view name, std::string_view value);

}  // namespace cairn::gate
