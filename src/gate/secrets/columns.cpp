#include <algorithm>

#include "base/text.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxRowLength = 400, kMaxRows = 50, kMaxHeading = 40;
constexpr char kBlanks = ' ';  // two or more of them divide the columns that programs print

bool is_dressing(char c) {
  return c == ' ' || c == '*' || is_quote(c);
}

std::vector<std::string_view> cells_of(std::string_view line, char sign) {
  return sign == kBlanks ? columns_of(line) : split(line, sign);
}

// A name of a column, not a piece of a sentence or of a program.
bool is_heading(std::string_view cell) {
  cell = trim(cell);
  return cell.size() <= kMaxHeading &&
         std::all_of(cell.begin(), cell.end(), [](char c) { return is(Chars::name, c) || is_dressing(c); });
}

// What divides the columns, when the hit is the heading of one; '\0': it looks like none.
char divider(const Hit& hit) {
  static constexpr CharSet kSigns("|\t,"), kEnds("\r\n");
  const std::string_view text = hit.text;
  const std::size_t left = skip_back(text, hit.begin, kMaxHeading, is_dressing);
  const std::size_t right = skip(text, hit.end, kMaxHeading, is_dressing);
  const char before = left > 0 ? text[left - 1] : '\n', behind = right < text.size() ? text[right] : '\n';
  const char sign = kSigns.has(before) ? before : behind;
  if (kSigns.has(sign))
    return (before == sign || before == '\n') && (behind == sign || kEnds.has(behind)) ? sign : '\0';
  const auto are_blanks = [](std::string_view two) {
    return two == "  " || two.empty() || kEnds.has(two[0]);
  };
  const bool apart =
      (hit.begin == 0 || text[hit.begin - 1] == '\n' || text.substr(0, hit.begin).ends_with("  ")) &&
      are_blanks(text.substr(hit.end, 2));
  return apart && is_upper(text[hit.begin]) ? kBlanks : '\0';
}

// NAME    TOKEN    AGE is the head of a table in capitals. A list of names in a program ends its lines with
// commas.
bool is_head(const std::vector<std::string_view>& cells, char sign) {
  return cells.size() > 1 && std::all_of(cells.begin(), cells.end(), [&](std::string_view cell) {
           return is_heading(cell) && !(sign == ',' && trim(cell).empty()) &&
                  !(sign == kBlanks && std::any_of(cell.begin(), cell.end(), is_lower));
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

std::string_view without_quotes(std::string_view cell) {
  cell = trim(cell);
  const bool quoted = cell.size() > 2 && is_quote(cell.front()) && cell.back() == cell.front();
  return quoted ? cell.substr(1, cell.size() - 2) : cell;
}

}  // namespace

std::size_t find_column(const Hit& hit) {
  const std::string_view text = hit.text;
  const char sign = divider(hit);
  if (sign == '\0') return 0;
  const std::size_t start = skip_back(text, hit.begin, kMaxRowLength, [](char c) { return c != '\n'; });
  const std::string_view head = line_at(text, start);
  const auto headings = cells_of(head, sign);
  if (head.size() > kMaxRowLength || !is_head(headings, sign)) return head.size();
  // The number of columns before the heading.
  const std::size_t column = cells_of(head.substr(0, hit.end - start), sign).size() - 1;
  const Strength strength = strength_of(between(text, hit.begin, hit.end));
  const Style style = strength == Strength::password && sign != kBlanks ? Style::paired : Style::plain;
  std::size_t at = start + head.size() + 1;
  for (std::size_t rows = 0; rows < kMaxRows && at < text.size(); ++rows) {
    const std::string_view line = line_at(text, at);
    at += line.size() + 1;
    if (is_rule(line)) continue;
    const auto cells = cells_of(line, sign);
    // The table ends.
    if (cells.size() != headings.size() || line.size() > kMaxRowLength) break;
    const std::string_view value = without_quotes(cells[column]);
    const auto begin = static_cast<std::size_t>(value.data() - text.data());
    if (is_secret(strength, style, value)) hit.add(begin, begin + value.size(), kind_name(strength));
  }
  return at - start;
}

}  // namespace cairn::gate
