// Which statements are out of date: a later turn says the same with other figures ("All 34 tests pass", then
// "All 36 tests pass").
//
// Two statements are about the same thing when all their concepts except the figures are equal. Statements
// that are only similar are both kept: dropping a true line is worse than keeping an old one.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "context/choice.h"

namespace cairn::context {

class Figures {
 public:
  // Something said in a turn of a session; sessions are counted from the newest, which is 0.
  struct Said {
    std::uint64_t subject = 0;  // a hash; 0: it states no figure
    std::uint64_t figures = 0;  // a hash of them
    std::size_t session = 0;
    std::int64_t turn = 0;
  };
  static Said said(const std::vector<Concepts::Use>& uses, std::size_t session, std::int64_t turn);

  void add(const Said& said);
  // Whether a later turn said the same with other figures.
  bool replaced(const Said& said) const;

 private:
  std::unordered_map<std::uint64_t, Said> latest_;  // by subject
};

}  // namespace cairn::context
