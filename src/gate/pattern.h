// A regular expression that takes linear time whatever it is given (RE2 behind one header).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace cairn::gate {

// Thread-safe: const after construction.
class Pattern {
 public:
  // Fails with `invalid`, saying what is wrong with it. `wide`: it will search long texts, and may use more
  // memory to stay fast.
  static Result<Pattern> compile(std::string_view pattern, bool wide = false);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  struct Match {
    std::size_t begin = 0, end = 0;
    std::size_t inner_begin = 0, inner_end = 0;  // its first group that took part; else the same
  };
  // The match that begins at text[at], or the first one from there on. It ends at `limit` at the latest, and
  // what stands behind that is not read but for the character next to it.
  std::optional<Match> match_at(std::string_view text, std::size_t at) const;
  std::optional<Match> find(std::string_view text, std::size_t at,
                            std::size_t limit = std::string_view::npos) const;
  bool matches_all(std::string_view text) const;

 private:
  explicit Pattern(std::unique_ptr<re2::RE2> compiled);
  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace cairn::gate
