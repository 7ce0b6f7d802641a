// The rules that are data: rules.txt, which is part of the program. A
// maintainer adds a line there.
#pragma once

#include <string_view>
#include <vector>

namespace cairn::gate {

struct RuleEntry {
  std::string_view section;               // "tokens"
  std::vector<std::string_view> columns;  // without the examples
  std::string_view goes,
      stays;  // examples, in the notation of tests/gate/corpus.txt
};

// In the order of the file. All texts live as long as the program.
const std::vector<RuleEntry>& rule_entries();
std::vector<RuleEntry> rule_entries(std::string_view section);

// The texts of a column: one blank divides them; \s is a blank of a text, \t a
// tab.
std::vector<std::string_view> texts_of(std::string_view column);

// Which of `names` a word of a rule is.
template <class Enum>
Enum one_of(std::string_view word, std::initializer_list<std::string_view> names) {
  int at = 0;
  for (const std::string_view name : names) {
    if (name == word) return static_cast<Enum>(at);
    ++at;
  }
  return static_cast<Enum>(0);
}

// How a token looks: a literal that each of them holds, and the shape of the
// rest. What is known by its name only
// (`password = ...`) is named_secrets.h's.
struct SecretRule {
  std::string_view kind;  // as in the marker
  std::vector<std::string_view> literals;
  std::string_view shape;   // what follows the literal (shape.h)
  bool anywhere = false;    // the literal may stand within a word
  std::string_view before;  // "a14": what stands before the literal and belongs to the secret
};

const std::vector<SecretRule>& secret_rules();

}  // namespace cairn::gate
