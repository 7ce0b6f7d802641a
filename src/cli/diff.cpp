#include "cli/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

// Leaves out the common beginning and end, compares the rest line by line (compare), and then cuts the list
// of all lines into hunks with kContext lines around each change.

namespace cairn::cli {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t kContext = 3;
constexpr std::size_t kMaxCells = 4u << 20;  // of the table below: 16 MB

struct DiffLine {
  char sign;  // ' ', '-' or '+'
  std::string_view text;
};

// With their line feeds, so that a last line without one differs from the same line with one.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

// Compares the lines between the common start and end by their longest common subsequence: cell(i, j) is its
// length for what follows line i of `a` and line j of `b`. When the table would be too large, all of `a` is
// shown as removed and all of `b` as added.
void compare(const Lines& a, const Lines& b, std::size_t start, std::size_t tail,
             std::vector<DiffLine>& out) {
  const std::size_t n = a.size() - start - tail, m = b.size() - start - tail;
  const bool bounded = (n + 1) * (m + 1) <= kMaxCells;
  std::vector<std::uint32_t> longest(bounded ? (n + 1) * (m + 1) : 0);
  const auto cell = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return longest[i * (m + 1) + j]; };
  for (std::size_t i = n; bounded && i-- > 0;)
    for (std::size_t j = m; j-- > 0;)
      cell(i, j) =
          a[start + i] == b[start + j] ? cell(i + 1, j + 1) + 1 : std::max(cell(i + 1, j), cell(i, j + 1));
  std::size_t i = 0, j = 0;
  while (i < n || j < m) {
    if (bounded && i < n && j < m && a[start + i] == b[start + j]) {
      out.push_back({' ', a[start + i]});
      ++i, ++j;
    } else if (i < n && (j == m || !bounded || cell(i + 1, j) >= cell(i, j + 1))) {
      out.push_back({'-', a[start + i++]});
    } else {
      out.push_back({'+', b[start + j++]});
    }
  }
}

std::string range(std::size_t first, std::size_t count) {
  const std::size_t shown =
      count == 0 ? first : first + 1;  // an empty range has the number of the line before it
  return count == 1 ? fmt::format("{}", shown) : fmt::format("{},{}", shown, count);
}

}  // namespace

std::string diff_text(const std::string& before, const std::string& after, const std::string& name) {
  if (before == after) return {};
  const Lines a = lines_of(before), b = lines_of(after);
  std::size_t start = 0, tail = 0;
  const std::size_t shorter = std::min(a.size(), b.size());
  while (start < shorter && a[start] == b[start]) ++start;
  while (tail < shorter - start && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;

  std::vector<DiffLine> all;
  for (std::size_t i = 0; i < start; ++i) all.push_back({' ', a[i]});
  compare(a, b, start, tail, all);
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) all.push_back({' ', a[i]});

  std::string diff = fmt::format("--- {}\n+++ {}\n", name, name);
  std::size_t line_a = 0, line_b = 0;  // lines passed so far
  for (std::size_t i = 0; i < all.size();) {
    std::size_t next = i;
    while (next < all.size() && all[next].sign == ' ') ++next;
    if (next == all.size()) break;
    const std::size_t from = next - std::min(next - i, kContext);
    line_a += from - i, line_b += from - i;
    // Two changes with at most 2 * kContext equal lines between them share a hunk: their context would touch.
    std::size_t to = next, quiet = 0;
    for (std::size_t k = next; k < all.size() && quiet <= 2 * kContext; ++k) {
      quiet = all[k].sign == ' ' ? quiet + 1 : 0;
      if (quiet == 0) to = k + 1;
    }
    to = std::min(to + kContext, all.size());
    std::string body;
    std::size_t count_a = 0, count_b = 0;
    for (std::size_t k = from; k < to; ++k) {
      count_a += all[k].sign != '+', count_b += all[k].sign != '-';
      body += all[k].sign;
      body += all[k].text;
      if (all[k].text.back() != '\n') body += "\n\\ No newline at end of file\n";
    }
    diff += fmt::format("@@ -{} +{} @@\n{}", range(line_a, count_a), range(line_b, count_b), body);
    line_a += count_a, line_b += count_b;
    i = to;
  }
  return diff;
}

}  // namespace cairn::cli
