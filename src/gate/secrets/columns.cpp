#include <algorithm>

#include "base/text.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxRowLength = 400, kMaxRows = 50, kMaxHeading = 40;

// The character beside the name; the end of a line counts as none.
char beside(std::string_view text, std::size_t at, int step) {
  for (std::size_t i = 0; at < text.size() && i < kMaxHeading; ++i, at += static_cast<std::size_t>(step))
    if (text[at] != ' ' && text[at] != '*' && !is_quote(text[at])) return text[at] == '\r' ? '\n' : text[at];
  return '\n';
}

bool separates_cells(char c) {
  return c == '|' || c == '\t' || c == ',';
}

// A name of a column, not a piece of a sentence or of a program.
bool is_heading(std::string_view cell) {
  cell = trim(cell);
  return cell.size() <= kMaxHeading && std::all_of(cell.begin(), cell.end(), [](char c) {
           return is(Chars::name, c) || c == ' ' || c == '*' || is_quote(c);
         });
}

// ----+-------, |---|:---:|, +----+
bool is_rule(std::string_view line) {
  return line.find('-') != std::string_view::npos &&
         line.find_first_not_of("-+|=: \r") == std::string_view::npos;
}

std::string_view line_at(std::string_view text, std::size_t at) {
  const std::string_view line = text.substr(at, kMaxRowLength + 1);
  return line.substr(0, line.find('\n'));
}

std::string_view bare_cell(std::string_view cell) {
  cell = trim(cell);
  if (cell.size() > 2 && is_quote(cell.front()) && cell.back() == cell.front())
    cell = cell.substr(1, cell.size() - 2);
  return cell;
}

std::size_t line_begin(std::string_view text, std::size_t at) {
  std::size_t start = at;
  while (start > 0 && at - start < kMaxRowLength && text[start - 1] != '\n') --start;
  return start;
}

// Calls `take(line, at)` for the lines behind `at` until it says no or a line is too long. Gives where it
// stopped.
template <class Take>
std::size_t each_row(std::string_view text, std::size_t at, Take&& take) {
  for (std::size_t rows = 0; rows < kMaxRows && at < text.size(); ++rows) {
    const std::string_view line = line_at(text, at);
    if (line.size() > kMaxRowLength || !take(line, at)) break;
    at += line.size() + 1;
  }
  return at;
}

// NAME    TOKEN    AGE: columns that begin under their headings, as programs print them.
std::size_t find_aligned(const Hit& hit) {
  const std::size_t start = line_begin(hit.text, hit.begin), column = hit.begin - start;
  const std::string_view head = line_at(hit.text, start);
  const std::size_t end = hit.end - start;
  const bool apart = (column == 0 || (column > 1 && head.substr(column - 2, 2) == "  ")) &&
                     (end == head.size() || head.substr(end, 2) == "  ");
  if (!apart || head.size() > kMaxRowLength || head.find("  ") == std::string_view::npos ||
      std::any_of(head.begin(), head.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '='; }))
    return 0;
  const Strength strength = strength_of(hit.text.substr(hit.begin, hit.end - hit.begin));
  return each_row(hit.text, start + head.size() + 1,
                  [&](std::string_view line, std::size_t at) {
                    if (line.size() <= column) return false;
                    const std::size_t stop = run_end(Chars::visible, line, column);
                    if ((column == 0 || line[column - 1] == ' ') &&
                        is_secret(strength, Style::plain, line.substr(column, stop - column)))
                      hit.add(at + column, at + stop, kind_name(strength));
                    return true;
                  }) -
         start;
}

}  // namespace

std::size_t find_column(const Hit& hit) {
  const std::string_view text = hit.text;
  if (hit.end < text.size() && is(Chars::upper, text[hit.begin]) &&
      (text[hit.end] == ' ' || text[hit.end] == '\n'))
    if (const std::size_t read = find_aligned(hit); read > 0) return read;
  const char before = hit.begin > 0 ? beside(text, hit.begin - 1, -1) : '\n',
             behind = beside(text, hit.end, 1);
  const char sign = separates_cells(before) ? before : behind;
  if (!separates_cells(sign) || (before != sign && before != '\n') || (behind != sign && behind != '\n'))
    return 0;
  const std::size_t start = line_begin(text, hit.begin);
  const std::string_view head = line_at(text, start);
  const auto headings = split(head, sign);
  // A list of names in a program ends its lines with commas.
  const bool list = sign == ',' && std::any_of(headings.begin(), headings.end(),
                                               [](std::string_view cell) { return trim(cell).empty(); });
  if (list || head.size() > kMaxRowLength || headings.size() < 2 ||
      !std::all_of(headings.begin(), headings.end(), is_heading))
    return head.size();
  const Strength strength = strength_of(text.substr(hit.begin, hit.end - hit.begin));
  const std::string_view left = head.substr(0, hit.begin - start);
  const auto column = static_cast<std::size_t>(std::count(left.begin(), left.end(), sign));
  return each_row(text, start + head.size() + 1,
                  [&](std::string_view line, std::size_t) {
                    if (is_rule(line)) return true;
                    const auto cells = split(line, sign);
                    if (cells.size() != headings.size()) return false;
                    const std::string_view value = bare_cell(cells[column]);
                    if (is_secret(strength, strength == Strength::password ? Style::paired : Style::plain,
                                  value)) {
                      const auto from = static_cast<std::size_t>(value.data() - text.data());
                      hit.add(from, from + value.size(), kind_name(strength));
                    }
                    return true;
                  }) -
         start;
}

}  // namespace cairn::gate
