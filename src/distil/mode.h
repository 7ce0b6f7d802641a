// A mode: the types and concepts of observations, and the words that speak for them, for findings, decisions
// and work that remains, in several languages. `code` is built in (modes/code.toml); people can add others.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace cairn::distil {

// Words to look for, folded. A `*` at the end of one stands for the rest of a word.
using Cues = std::vector<std::string>;

struct Mode {
  struct Named {
    std::string name;
    Cues cues;
  };
  std::string name;
  std::vector<Named> types;  // in the order they are looked for
  std::vector<Named> concepts;
  Cues findings;  // causes and things found out
  Cues decisions;
  Cues remains;   // work that is left
  Cues settled;   // what takes that back: "still passes"
  Cues headings;  // over lists of what is left
  Cues offers;    // of a closing question: "want me to"
  Cues agrees;    // of a prompt that says yes to one
};

// Reads a mode file. Fails with `invalid`, naming the file and what is wrong in it.
Result<Mode> read_mode(std::string_view toml, std::string_view name);
// The built-in mode.
const Mode& code_mode();
std::string_view code_mode_text();

// Text as cues are written: lower case, as far as Latin letters go.
std::string fold(std::string_view text);
// Whether one of them stands in folded text, between word borders where the script has words.
bool has_cue(std::string_view folded, const Cues& cues);
// The same for very many texts: the cues are looked up by their first two bytes; one of a single byte is left
// out. Borrows them.
class CueFinder {
 public:
  explicit CueFinder(std::initializer_list<const Cues*> cues);
  bool in(std::string_view folded) const;

 private:
  std::unordered_map<std::uint16_t, std::vector<std::string_view>> by_start_;  // their first two bytes
};
// The folded text without every occurrence of them.
std::string without_cues(std::string folded, const Cues& cues);
// The first of them whose cues stand in the folded text; null: none does.
const Mode::Named* first_named(std::string_view folded, const std::vector<Mode::Named>& list);

}  // namespace cairn::distil
