#include "base/nearest.h"

#include <algorithm>
#include <cstddef>

namespace cairn {

// The number of typing errors between two words (optimal string alignment distance).
static std::size_t typing_errors(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      // The last two letters are swapped.
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string_view did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t kLongest = 40;  // comparing costs the product of both lengths
  if (word.size() > kLongest) return {};
  std::string_view nearest;
  // At most one typing error in a short word, two in a longer one. Among equals prefer the same length:
  // letters are swapped more often than added.
  std::size_t best = 2 * (word.size() <= 4 ? 2 : 3);
  for (const std::string_view candidate : known)
    if (const std::size_t d = 2 * typing_errors(word, candidate) + (word.size() != candidate.size());
        d < best)
      best = d, nearest = candidate;
  return nearest;
}

}  // namespace cairn
