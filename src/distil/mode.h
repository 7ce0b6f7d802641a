// A mode: the types and concepts of observations, and the words ("cues") that show them, findings, decisions
// and remaining work, in several languages. `code` is built in (modes/code.toml); people can add others.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace cairn::distil {

// Words to search for, in lower case. A `*` at the end matches the rest of a word.
using Cues = std::vector<std::string>;

struct Mode {
  struct Named {
    std::string name;
    Cues cues;
    std::string about = {};  // what it means, for a model; may be empty
  };
  std::string name;
  // Texts for a model, instead of the built-in ones; empty: the built-in text.
  struct Prompt {
    std::string role;      // who it is
    std::string focus;     // what to write down
    std::string language;  // in which it writes: "German"
  } prompt;
  std::vector<Named> types;  // in the order in which they are tried
  std::vector<Named> concepts;
  Cues findings;  // of causes and findings
  Cues decisions;
  Cues remains;   // of work that remains
  Cues resolved;  // that cancel the above: "still passes"
  Cues headings;  // of headings over lists of remaining work
  Cues offers;    // of a closing question: "want me to"
  Cues agrees;    // of a prompt that accepts an offer

  // Plain language. A mode without one of these lists uses the list of `code`.
  Cues rejected_alternative;     // before the alternative that was not chosen: "instead of"
  Cues allowed_in_heading;       // other words allowed in a heading with a cue
  Cues nothing_left;             // of an item that says that nothing is left: "none"
  Cues offers_without_question;  // offers without a question mark: "say the word"
  Cues offer_fillers;            // words of an offer that name no work
  Cues rule_words;               // of a standing order: "always", "never"
  Cues rule_starts;              // the same, only at the beginning of a sentence
  Cues not_rules;                // beginnings that look like an order and are none: "never mind"
  Cues routine_requests;         // words of requests without work of their own: "commit", "yes"
  Cues announces;                // beginnings of sentences that announce work: "let me"
  Cues points_back;              // beginnings of sentences that need the one before: "this"
  Cues sections_without_steps;   // headings in a plan over sections without steps: "risks"
  Cues done_by_running;          // of an item that is done by running something: "run", "verify"
  Cues abbreviations;            // after which a full stop does not end a sentence
  Cues empty;                    // words without meaning: "the"
  Cues obligation_words;         // words common to requests, offers and obligations
};

// Reads a mode file. Fails with `invalid`, naming the file and what is wrong in it.
Result<Mode> read_mode(std::string_view toml, std::string_view name);
// Reads a mode in the JSON format of an older memory tool: types, concepts and prompt texts; cues are those
// of `code`. `parent`: the mode that it changes, for names such as "code--de"; its own members come first.
Result<Mode> read_json_mode(std::string_view json, std::string_view name, const Mode& parent);
// The built-in mode.
const Mode& code_mode();
std::string_view code_mode_text();

// Text in the form of cues: Latin letters in lower case.
std::string fold(std::string_view text);
// Whether folded text contains one of them, between word borders where the script has words.
bool has_cue(std::string_view folded, const Cues& cues);
// The same, fast for many texts: cues are looked up by their first two bytes; cues of one byte are left out.
// Borrows the cues.
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
// The first of them with a cue in the folded text; null: none.
const Mode::Named* first_named(std::string_view folded, const std::vector<Mode::Named>& list);

}  // namespace cairn::distil
