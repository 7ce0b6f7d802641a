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

  // Plain language. A mode that has none of a list gets that of `code`.
  Cues over;           // what names the thing that was not chosen: "instead of"
  Cues beside;         // what may stand beside a cue in a heading
  Cues nothing;        // an item that says that nothing is left: "none"
  Cues invites;        // offers without a question mark: "say the word"
  Cues vague;          // words of an offer that name no work
  Cues orders;         // of a sentence that orders something for good
  Cues order_starts;   // the same, at the beginning of the sentence alone
  Cues no_orders;      // beginnings that only sound like one: "never mind"
  Cues chores;         // words that a request is made of that asks for no work: "commit", "yes"
  Cues announces;      // beginnings of sentences that say what comes: "let me"
  Cues points_back;    // beginnings of sentences that need the one before: "this"
  Cues asides;         // headings in a plan over what is no work: "risks"
  Cues reruns;         // of an item that is done by running something: "run", "verify"
  Cues abbreviations;  // whose full stop ends no sentence
  Cues empty;          // words that say nothing: "the"
  Cues duties;         // words that are in all sentences that ask, offer or oblige
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
// Whether folded text begins with one of them and a blank.
bool begins_with_cue(std::string_view folded, const Cues& cues);
// The folded text without every occurrence of them.
std::string without_cues(std::string folded, const Cues& cues);
// The first of them whose cues stand in the folded text; null: none does.
const Mode::Named* first_named(std::string_view folded, const std::vector<Mode::Named>& list);

}  // namespace cairn::distil
