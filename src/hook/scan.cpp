#include "hook/scan.h"

#include <algorithm>

namespace cairn::hook {

static constexpr std::size_t kLookedAt = 64u << 10;
static constexpr std::size_t kLongestName = 64;

void EventNameScan::add(std::string_view bytes) {
  seen_ += bytes.substr(0, kLookedAt - seen_.size());
}

static void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

std::string EventNameScan::event() const {
  // Quoted inside a string the key would end in \" and is not found.
  constexpr std::string_view kKey = "\"hook_event_name\"";
  std::string_view text = seen_;
  const std::size_t key = text.find(kKey);
  if (key == std::string_view::npos) return {};
  text.remove_prefix(key + kKey.size());
  for (const char expected : {':', '"'}) {
    skip_blanks(text);
    if (!text.starts_with(expected)) return {};
    text.remove_prefix(1);
  }
  const std::size_t end = text.find('"');
  if (end > kLongestName) return {};
  const std::string_view name = text.substr(0, end);
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
  return std::all_of(name.begin(), name.end(), is_letter) ? std::string(name) : std::string();
}

}  // namespace cairn::hook
