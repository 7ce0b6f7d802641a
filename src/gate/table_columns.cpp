#include "gate/table_columns.h"

#include <algorithm>

#include "base/text.h"
#include "gate/char_runs.h"
#include "gate/named_value.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxRowLength = 400, kMaxRows = 50, kMaxHeading = 40;

// What stands beside the name: the end of a line counts as none.
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

}  // namespace

// NAME    TOKEN    AGE: columns that begin under their headings, as programs print them.
static std::size_t find_aligned(std::string_view text, std::size_t begin, std::size_t end,
                                std::vector<Place>& found) {
  std::size_t start = begin;
  while (start > 0 && begin - start < kMaxRowLength && text[start - 1] != '\n') --start;
  const std::string_view head = line_at(text, start);
  const std::size_t column = begin - start;
  const std::string_view name = text.substr(begin, end - begin);
  const bool apart = (column == 0 || (column > 1 && head.substr(column - 2, 2) == "  ")) &&
                     (end - start == head.size() || head.substr(end - start, 2) == "  ");
  if (!apart || head.size() > kMaxRowLength || head.find("  ") == std::string_view::npos ||
      std::any_of(head.begin(), head.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '='; }))
    return 0;
  const Strength strength = strength_of(name);
  std::size_t at = start + head.size() + 1;
  for (std::size_t rows = 0; rows < kMaxRows && at < text.size(); ++rows) {
    const std::string_view line = line_at(text, at);
    if (line.size() <= column || line.size() > kMaxRowLength) break;
    const std::size_t stop = run_end(Chars::visible, line, column);
    const std::string_view value = line.substr(column, stop - column);
    if ((column == 0 || line[column - 1] == ' ') && is_secret(strength, Style::plain, value))
      found.push_back({at + column, at + stop, kind_name(strength)});
    at += line.size() + 1;
  }
  return at - start;
}

std::size_t find_column(std::string_view text, std::size_t begin, std::size_t end,
                        std::vector<Place>& found) {
  if (end < text.size() && is(Chars::upper, text[begin]) && (text[end] == ' ' || text[end] == '\n'))
    if (const std::size_t read = find_aligned(text, begin, end, found); read > 0) return read;
  const char before = begin > 0 ? beside(text, begin - 1, -1) : '\n', behind = beside(text, end, 1);
  const char sign = separates_cells(before) ? before : behind;
  if (!separates_cells(sign) || (before != sign && before != '\n') || (behind != sign && behind != '\n'))
    return 0;
  std::size_t start = begin;
  while (start > 0 && begin - start < kMaxRowLength && text[start - 1] != '\n') --start;
  const std::string_view head = line_at(text, start);
  const auto headings = split(head, sign);
  // A list of names in a program ends its lines with commas.
  const bool list = sign == ',' && std::any_of(headings.begin(), headings.end(),
                                               [](std::string_view cell) { return trim(cell).empty(); });
  if (list || head.size() > kMaxRowLength || headings.size() < 2 ||
      !std::all_of(headings.begin(), headings.end(), is_heading))
    return head.size();
  const auto column = static_cast<std::size_t>(
      std::count(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(begin - start), sign));
  const Strength strength = strength_of(text.substr(begin, end - begin));
  std::size_t at = start + head.size() + 1;
  for (std::size_t rows = 0; rows < kMaxRows && at < text.size(); ++rows) {
    const std::string_view line = line_at(text, at);
    if (line.size() > kMaxRowLength) break;
    if (!is_rule(line)) {
      const auto cells = split(line, sign);
      if (cells.size() != headings.size()) break;
      const std::string_view value = bare_cell(cells[column]);
      if (is_secret(strength, strength == Strength::password ? Style::paired : Style::plain, value)) {
        const auto from = static_cast<std::size_t>(value.data() - text.data());
        found.push_back({from, from + value.size(), kind_name(strength)});
      }
    }
    at += line.size() + 1;
  }
  return at - start;
}

}  // namespace cairn::gate
