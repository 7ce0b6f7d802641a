#include "base/shell.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace cairn {

std::string shell_word(std::string_view text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("/._-+,:@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  // Between single quotes nothing is special but the quote itself: end the quotes, write it, begin again.
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

// Quotes may be in the middle of a word: a"b c"d is the word ab cd. An operator such as `;` ends a word and
// stays in `line`.
std::string take_shell_word(std::string_view& line) {
  line = trim(line);
  std::string word;
  char quote = '\0';
  std::size_t i = 0;
  for (; i < line.size(); ++i) {
    const char c = line[i];
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
    } else if (quote == '\0' && std::string_view(" \t\n;&|<>()").find(c) != std::string_view::npos) {
      break;
    } else {
      word += c;
    }
  }
  line.remove_prefix(i);
  return word;
}

}  // namespace cairn
