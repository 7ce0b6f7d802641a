#include "hook/scan.h"

#include <algorithm>

namespace cairn::hook {

// Longer than any event's name, and than a UUID.
static constexpr std::size_t kLongestWord = 64;

void PayloadScan::add(std::string_view bytes, std::size_t limit) {
  if (seen_.size() < limit) seen_ += bytes.substr(0, limit - seen_.size());
}

static void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

std::string_view word_in(std::string_view json, std::string_view key) {
  // A key inside a quoted string would end in \", so it is not found.
  const std::string quoted = '"' + std::string(key) + '"';
  const std::size_t found = json.find(quoted);
  if (found == std::string_view::npos) return {};
  json.remove_prefix(found + quoted.size());
  for (const char expected : {':', '"'}) {
    skip_blanks(json);
    if (!json.starts_with(expected)) return {};
    json.remove_prefix(1);
  }
  const std::size_t end = json.find('"');
  if (end > kLongestWord) return {};
  const std::string_view word = json.substr(0, end);
  const auto fits = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return std::all_of(word.begin(), word.end(), fits) ? word : std::string_view();
}

}  // namespace cairn::hook
