// The rules as data: rules.txt, which is compiled into the program. To add a rule, add a line there.
#pragma once

#include <string_view>
#include <vector>

#include "gate/secrets/chars.h"

namespace cairn::gate {

struct RuleEntry {
  std::string_view section;               // "tokens"
  std::vector<std::string_view> columns;  // without the examples
  std::string_view goes, stays;           // examples, in the notation of tests/gate/corpus.txt
};

// In the order of the file. All texts live as long as the program.
const std::vector<RuleEntry>& rule_entries();

// The texts of a column: one blank divides them; \s is a blank of a text, \t a tab.
std::vector<std::string_view> texts_of(std::string_view column);

// A text that a finder is called for, and how it continues from there.
struct Sign {
  std::string_view text;
  std::size_t how = 0;
};
// The signs of a section whose entries begin with how and texts. `hows` gives the numbers.
std::vector<Sign> signs_of(std::string_view section, std::initializer_list<std::string_view> hows);
std::size_t position(std::string_view word, std::initializer_list<std::string_view> words);

// Words of the section "lists", or of a column. All of it in either case.
class WordList {
 public:
  explicit WordList(std::string_view name) : WordList(texts(name)) {}
  explicit WordList(std::vector<std::string_view> words);
  static const std::vector<std::string_view>& texts(std::string_view name);

  bool has(std::string_view word) const;
  // The size of the first of them that `text` begins with; 0: with none.
  std::size_t begins(std::string_view text) const;
  bool ends(std::string_view text) const;
  bool is_in(std::string_view text) const;

 private:
  std::vector<std::string_view> words_;
  CharSet first_{""}, last_{""};  // letters: most texts have none of them there
  std::uint64_t sizes_ = 0;       // a bit for each size
};

// The form of a token: a literal that each of them contains, and the shape of the rest.
struct SecretRule {
  std::string_view kind;  // as in the marker
  std::vector<std::string_view> literals;
  std::string_view shape;   // what follows the literal (shape.h)
  bool anywhere = false;    // the literal may be inside a word
  std::string_view before;  // "a14": the part of the secret before the literal
};
const std::vector<SecretRule>& secret_rules();

}  // namespace cairn::gate
