#include "agent/providers/keys.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "os/owner.h"

namespace cairn::agent {

static constexpr std::size_t kLongestKey = 4096;

// A key becomes part of a header: a line end in it would begin another header.
static Result<std::string> usable(std::string_view text, const std::string& where) {
  std::string key(trim(text));
  if (std::any_of(key.begin(), key.end(), [](unsigned char c) { return c <= ' ' || c > '~'; }))
    return Error{Code::invalid, where + " does not hold a key: it must be one word on one line"};
  return key;
}

Result<std::string> find_key(const std::string& file, const std::vector<const char*>& variables) {
  if (!file.empty()) {
    const std::string key = TRY(usable(TRY(os::read_secret(file, kLongestKey)), "agent.key_file: " + file));
    if (key.empty())
      return Error{Code::invalid, "agent.key_file: " + file + " is empty: write the key to it"};
    return key;
  }
  std::vector<const char*> names = {kAnyKey};
  names.insert(names.end(), variables.begin(), variables.end());
  for (const char* name : names)
    if (const char* value = std::getenv(name); value && *value) return usable(value, name);
  return std::string();
}

std::string without_key(std::string text, std::string_view key) {
  if (key.size() < 6) return text;  // too short to search for: it may be an ordinary word
  for (std::size_t at; (at = text.find(key)) != std::string::npos;) text.replace(at, key.size(), "[key]");
  return text;
}

}  // namespace cairn::agent
