// The rules as data: rules.txt, which is compiled into the program. To add a rule, add a line there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gate/secrets/chars.h"

namespace cairn::gate {

struct RuleEntry {
  std::string_view section;                        // "tokens"
  std::vector<std::string_view> columns;           // without the examples
  std::string_view removed_example, kept_example;  // examples, in the notation of tests/gate/corpus.txt
};

// In the order of the file. All texts live as long as the program.
const std::vector<RuleEntry>& rule_entries();

// The parts of a line that are two or more blanks apart.
std::vector<std::string_view> columns_of(std::string_view line);

// Words of the section "lists", or of a column. All comparisons ignore case.
class WordList {
 public:
  WordList() = default;
  explicit WordList(std::string_view name) : WordList(texts(name)) {}
  explicit WordList(std::vector<std::string> words);
  static const std::vector<std::string>& texts(std::string_view name);

  bool has(std::string_view word) const;
  // The size of the first of them that `text` begins with; 0: with none.
  std::size_t begins(std::string_view text) const;
  bool ends(std::string_view text) const;
  bool is_in(std::string_view text) const;

 private:
  std::vector<std::string> words_;
  CharSet first_{""}, last_{""};  // letters: most texts have none of them there
  std::uint64_t sizes_ = 0;       // a bit for each size
};

// A literal text at which a finder is called, and how the text after it is to be read.
struct Sign {
  std::string text;
  std::size_t how = 0;     // the position of "arguments" among the finder's words
  std::size_t number = 0;  // "arguments:2"
  bool sure = false;       // "arguments!"
  WordList words = {};     // of the third column
};
// The signs of a section whose entries begin with how and texts. `hows`: the finder's words.
std::vector<Sign> signs_of(std::string_view section, std::string_view hows);

// The form of a token: a literal that each of them contains, and the shape of the rest.
struct SecretRule {
  std::string_view kind;  // as in the marker
  std::vector<std::string> literals;
  std::string_view shape;   // what follows the literal (shape.h)
  bool anywhere = false;    // the literal may be inside a word
  bool random = false;      // the rest must look random
  std::string_view before;  // "a14": the part of the secret before the literal
};
const std::vector<SecretRule>& secret_rules();

}  // namespace cairn::gate
