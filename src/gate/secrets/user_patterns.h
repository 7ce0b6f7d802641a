// The user's own rules: additional secrets, and texts that are not secrets. Regular expressions of RE2, which
// take linear time on any input. Only user_patterns.cpp includes its header.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gate/secrets/finders.h"

namespace re2 {
class RE2;
}

namespace cairn::gate {

// Thread-safe: const after construction.
class UserPatterns {
 public:
  // Those that are wrong (wrong_pattern in secrets.h) are left out.
  UserPatterns(const std::vector<std::string>& secrets, const std::vector<std::string>& allowed);
  ~UserPatterns();

  void find(std::string_view text, std::vector<FoundSecret>& found) const;
  bool allow(std::string_view secret) const;

 private:
  using Pattern = std::unique_ptr<const re2::RE2>;
  std::vector<std::pair<std::string, Pattern>> secrets_;  // by kind
  std::vector<Pattern> allowed_;
};

}  // namespace cairn::gate
