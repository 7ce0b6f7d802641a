#include "distil/symbols.h"

#include <algorithm>
#include <initializer_list>

#include "base/text.h"

namespace cairn::distil {

namespace {

constexpr std::size_t kMaxSymbols = 6;
constexpr std::size_t kMaxSourceLine = 400;  // a longer line is data, or minified
constexpr std::size_t kMaxAbove = 2000;      // lines searched above a hunk

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string_view take_word(std::string_view& text) {
  text = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
  std::size_t end = 0;
  while (end < text.size() && is_name_char(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

bool is_modifier(std::string_view word) {
  return any_of(word,
                {"export", "default",  "async",    "pub",     "public",   "private", "protected", "static",
                 "final",  "abstract", "override", "inline",  "virtual",  "const",   "constexpr", "extern",
                 "unsafe", "internal", "sealed",   "partial", "readonly", "suspend", "open",      "crate"});
}

bool is_keyword(std::string_view word) {
  return any_of(word,
                {"if",     "else", "for",    "while",  "switch",    "return",   "catch", "do",    "case",
                 "throw",  "new",  "delete", "sizeof", "using",     "import",   "from",  "with",  "try",
                 "except", "elif", "assert", "print",  "not",       "and",      "or",    "await", "yield",
                 "raise",  "in",   "is",     "TRY",    "EXPECT_EQ", "ASSERT_EQ"});
}

// The name after `def`, `class`, `fn` and similar keywords.
std::string_view after_keyword(std::string_view line) {
  for (int words = 0; words < 6; ++words) {
    const std::string_view word = take_word(line);
    if (word.empty()) return {};
    if (any_of(word, {"def", "class", "fn", "function", "struct", "enum", "interface", "trait", "union",
                      "namespace", "module", "protocol", "object", "record", "defmodule", "defp"})) {
      while (line.starts_with('*') || line.starts_with(' ')) line.remove_prefix(1);
      std::string_view name = take_word(line);
      if (word == "enum" && any_of(name, {"class", "struct"})) name = take_word(line);
      return name;
    }
    if (word == "func") {  // Go names its receiver first
      const std::string_view rest = trim(line);
      if (rest.starts_with('(')) line = rest.substr(std::min(rest.find(')'), rest.size() - 1) + 1);
      return take_word(line);
    }
    if (word == "type" || word == "impl") return take_word(line);
    if (!is_modifier(word)) return {};
    if (line.starts_with('('))
      line.remove_prefix(std::min(line.find(')'), line.size() - 1) + 1);  // pub(crate)
  }
  return {};
}

// `TYPE name(ARGUMENTS) {` in C-like languages, and `const name = (...) =>`.
std::string_view by_shape(std::string_view line) {
  if (line.starts_with("const ") || line.starts_with("export const ") || line.starts_with("let ")) {
    if (line.find("=>") == std::string_view::npos && line.find("function") == std::string_view::npos)
      return {};
    std::string_view rest = line.substr(line.find(line.starts_with("let ") ? "let " : "const "));
    take_word(rest);
    return take_word(rest);
  }
  const std::size_t open = line.find('(');
  if (open == std::string_view::npos || open == 0) return {};
  const std::string_view end = trim(line);
  if (!end.ends_with('{') && !end.ends_with(',') && !end.ends_with(')') && !end.ends_with("const")) return {};
  const std::string_view head = line.substr(0, open);
  // An assignment, a string, a method call or a statement before the bracket: no definition.
  if (head.find_first_of("=\"'.;{") != std::string_view::npos) return {};
  std::size_t from = head.size();
  while (from > 0 && (is_name_char(head[from - 1]) || head[from - 1] == ':' || head[from - 1] == '~')) --from;
  const std::string_view name = head.substr(from);
  const std::string_view before = trim(head.substr(0, from));
  // take_word() consumes: `first` is a copy. `return f(x)` has a keyword before the name.
  std::string_view first = before;
  if (name.empty() || is_keyword(name) || is_keyword(take_word(first))) return {};
  if (before.empty() && !end.ends_with('{')) return {};  // a call
  return name;
}

std::string_view found_above(const std::vector<std::string_view>& original, std::size_t line) {
  std::size_t left = kMaxAbove;
  for (std::size_t i = std::min(line, original.size()); i > 0 && left > 0; --i, --left)
    if (const std::string_view name = defined_name(original[i - 1]); !name.empty()) return name;
  return {};
}

void add(std::vector<std::string>& list, std::string_view name) {
  if (name.empty() || list.size() >= kMaxSymbols) return;
  if (std::find(list.begin(), list.end(), name) == list.end()) list.emplace_back(visible(prefix(name, 80)));
}

}  // namespace

std::string_view defined_name(std::string_view line) {
  if (line.size() > kMaxSourceLine) return {};
  const std::string_view text = trim(line);
  if (text.empty() ||
      any_of(text.substr(0, 1), {"#", "/", "*", "<", "}", ")", "\"", "'", "-", "+", "|", "@"}))
    return {};
  if (const std::string_view name = after_keyword(text); !name.empty()) return name;
  // A deeply indented line is probably a call, not a definition.
  const std::size_t indent = line.find_first_not_of(" \t");
  return indent > 4 ? std::string_view() : by_shape(text);
}

std::vector<std::string> touched_symbols(const std::vector<host::Hunk>& hunks, std::string_view original) {
  std::vector<std::string> out;
  std::vector<std::string_view> above;
  for (const host::Hunk& hunk : hunks) {
    std::string_view current;
    bool looked = false;
    for (const std::string_view line : hunk.lines) {
      if (line.empty()) continue;
      if (const std::string_view name = defined_name(line.substr(1)); !name.empty()) current = name;
      // A line of context only tells in which function the changed lines are.
      if (line[0] != '+' && line[0] != '-') continue;
      if (current.empty() && !looked && out.size() < kMaxSymbols) {
        looked = true;
        if (above.empty()) above = lines(original);
        current = found_above(above, hunk.old_start > 1 ? static_cast<std::size_t>(hunk.old_start) - 1 : 0);
      }
      add(out, current);
    }
  }
  return out;
}

std::vector<std::string> defined_symbols(std::string_view content) {
  std::vector<std::string> out;
  for (const std::string_view line : lines(prefix(content, 64 << 10))) {
    if (out.size() >= kMaxSymbols) break;
    if (!line.empty() && line[0] != ' ' && line[0] != '\t') add(out, defined_name(line));
  }
  return out;
}

}  // namespace cairn::distil
