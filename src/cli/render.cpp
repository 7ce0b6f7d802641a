#include "cli/render.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>

#include "base/text.h"
#include "context/inert.h"

namespace cairn::cli {

namespace {

constexpr std::size_t kGap = 2;            // blanks between columns
constexpr std::size_t kLeastLast = 16;     // the least width of the last column
constexpr std::size_t kOneLine = 1 << 20;  // shown_line() joins lines; it is not meant to cut

std::string_view code_of(Style style) {
  switch (style) {
    case Style::plain: return "";
    case Style::bold: return "\x1b[1m";
    case Style::dim: return "\x1b[2m";
    case Style::good: return "\x1b[32m";
    case Style::warn: return "\x1b[33m";
    case Style::bad: return "\x1b[31m";
    case Style::accent: return "\x1b[36m";
    case Style::match: return "\x1b[1;33m";
  }
  return "";
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

std::size_t terminal_width(int fd) {
  // A width that is not plausible is ignored.
  if (const char* columns = std::getenv("COLUMNS")) {
    const std::string_view text = columns;
    std::size_t width = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
    if (error == std::errc() && end == text.data() + text.size() && width >= 20 && width <= 10'000)
      return width;
  }
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

// The bytes of the UTF-8 character at `at`.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return end - at;
}

// Later lines of "- an item" begin below its text, not below the dash.
void wrap_line(std::string_view line, std::size_t width, std::size_t indent, std::string& out) {
  const std::size_t own = std::min(line.find_first_not_of(' '), line.size());
  std::size_t lead = indent + std::min(own, width / 2);
  std::size_t used = lead;
  bool first = true;
  out.append(lead, ' ');
  if (line.substr(own).starts_with("- ")) lead += 2;
  for (const std::string_view word : split(line.substr(own), ' ')) {
    if (word.empty()) continue;
    const std::size_t columns = display_width(word);
    if (!first && used + 1 + columns > width) {
      out += '\n';
      out.append(lead, ' ');
      used = lead;
      first = true;
    }
    if (!first) out += ' ', ++used;
    out += word;
    used += columns;
    first = false;
  }
  out += '\n';
}

}  // namespace

Screen Screen::of(int fd, bool no_colour) {
  Screen screen;
  screen.terminal = isatty(fd) == 1;
  screen.width = screen.terminal ? terminal_width(fd) : 80;
  const char* term = std::getenv("TERM");
  const bool dumb = !term || std::string_view(term) == "dumb";
  screen.colour = screen.terminal && !no_colour && !dumb && !is_set("NO_COLOR");
  return screen;
}

std::string Screen::paint(Style style, std::string_view text) const {
  if (!colour || style == Style::plain || text.empty()) return std::string(text);
  return std::string(code_of(style)) + std::string(text) + "\x1b[0m";
}

std::string Screen::paint(Style style, std::string_view text, const Marks& marks) const {
  std::string out;
  std::size_t at = 0;
  for (const auto& [from, to] : marks) {
    if (from < at || to <= from || to > text.size()) continue;
    out += paint(style, text.substr(at, from - at));
    out += paint(Style::match, text.substr(from, to - from));
    at = to;
  }
  return out + paint(style, text.substr(at));
}

std::string shown(std::string_view text) {
  std::string tabless;
  for (const char c : visible(valid_utf8(std::string(text)))) {
    if (c == '\t')
      tabless += "    ";  // a tab's width depends on its column
    else
      tabless += c;
  }
  // Agents run our commands, so models read this too.
  const std::string inert = context::without_tags(tabless);
  std::string out;
  for (const std::string_view line : split(inert, '\n')) {
    if (line.data() != inert.data()) out += '\n';
    if (context::is_speaker(line)) out += "| ";
    out += line;
  }
  return out;
}

// In JSON only strings contain characters beyond ASCII, so each of them can be written as an escape. Decodes
// a UTF-8 character to its code, and writes one above U+FFFF as a pair of surrogates.
std::string shown_json(std::string_view json) {
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    const std::string_view character = json.substr(at, character_bytes(json, at));
    at += character.size();
    if ((character.size() == 1 && character[0] != 0x7f) || visible(character) == character) {
      out += character;
      continue;
    }
    constexpr int kBits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code =
        static_cast<unsigned char>(character[0]) & kBits[std::min<std::size_t>(character.size(), 4)];
    for (const char next : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(next) & 0x3f);
    if (code < 0x10000)
      out += fmt::format("\\u{:04x}", code);
    else
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
  }
  return out;
}

std::string shown_line(std::string_view text) {
  return one_line(shown(text), kOneLine);
}

std::string fit(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::size_t used = 0, at = 0;
  while (at < text.size()) {
    const std::size_t bytes = character_bytes(text, at);
    const std::size_t wide = display_width(text.substr(at, bytes));
    if (used + wide > columns - 1) break;
    used += wide;
    at += bytes;
  }
  while (at > 0 && text[at - 1] == ' ') --at;
  return std::string(text.substr(0, at)) + "…";
}

std::string pad(std::string_view text, std::size_t columns) {
  const std::size_t used = display_width(text);
  return std::string(text) + std::string(columns > used ? columns - used : 0, ' ');
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  for (const std::string_view line : lines(text)) {
    if (trim(line).empty())
      out += '\n';
    else
      wrap_line(line, std::max(width, indent + 20), indent, out);
  }
  return out;
}

// Marks are positions in the original text: when that changes, they would mark something else.
static void make_shown(Table::Cell& cell) {
  std::string text = shown_line(cell.text);
  if (text != cell.text) cell.marks.clear();
  cell.text = std::move(text);
}

void Table::add(std::vector<Cell> row) {
  row.resize(columns_.size(), Cell(""));
  for (Cell& cell : row) make_shown(cell);
  rows_.push_back({std::move(row), {}});
}

void Table::add_below(Cell line) {
  make_shown(line);
  if (!rows_.empty()) rows_.back().below.push_back(std::move(line));
}

std::vector<std::size_t> Table::full_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = display_width(columns_[i].title);
    for (const Row& row : rows_) widest = std::max(widest, display_width(row.cells[i].text));
    widths.push_back(widest);
  }
  return widths;
}

bool Table::fits(const Screen& screen) const {
  return !screen.terminal || widths(screen) == full_widths();
}

std::vector<std::size_t> Table::widths(const Screen& screen) const {
  std::vector<std::size_t> widths = full_widths();
  if (!screen.terminal || widths.empty()) return widths;
  // Shrinks the widest other column until the last one has enough space.
  const auto others = [&] {
    std::size_t sum = 0;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) sum += widths[i] + kGap;
    return sum;
  };
  const std::size_t wanted = std::min(widths.back(), kLeastLast);
  while (others() + wanted > screen.width) {
    const auto widest = std::max_element(widths.begin(), widths.end() - 1);
    if (*widest <= 4) break;  // narrower columns show nothing useful
    --*widest;
  }
  widths.back() = std::min(widths.back(), screen.width > others() ? screen.width - others() : 1);
  return widths;
}

std::string Table::text(const Screen& screen) const {
  const std::vector<std::size_t> columns = widths(screen);
  std::string out;
  const auto put = [&](std::size_t i, const std::string& text, Style style, const Marks& marks = {}) {
    const std::string cell = fit(text, columns[i]);
    const std::string blanks(columns[i] - display_width(cell), ' ');
    if (i > 0) out.append(kGap, ' ');
    if (columns_[i].right) out += blanks;
    out += screen.paint(style, cell, marks);
    if (!columns_[i].right && i + 1 < columns_.size()) out += blanks;
  };
  const auto end_row = [&] {
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out += '\n';
  };
  for (std::size_t i = 0; i < columns_.size(); ++i) put(i, columns_[i].title, Style::dim);
  end_row();
  const std::size_t indent = columns.empty() ? 0 : columns[0] + kGap;
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      put(i, row.cells[i].text, row.cells[i].style, row.cells[i].marks);
    end_row();
    for (const Cell& line : row.below) {
      const std::size_t room = screen.width > indent ? screen.width - indent : 1;
      const std::string text = screen.terminal ? fit(line.text, room) : line.text;
      out += std::string(indent, ' ') + screen.paint(line.style, text, line.marks) + "\n";
    }
  }
  return out;
}

void Facts::add(std::string label, std::string value, Style style) {
  facts_.push_back({std::move(label), shown_line(value), style});
}

std::string Facts::text(const Screen& screen) const {
  std::size_t widest = 0;
  for (const Fact& fact : facts_) widest = std::max(widest, display_width(fact.label));
  const std::size_t indent = 2 + widest + kGap;
  std::string out;
  for (const Fact& fact : facts_) {
    out += "  " + screen.paint(Style::dim, pad(fact.label, widest + kGap));
    // Paint each line: a colour across a line break would also paint the indentation.
    const std::string value = screen.terminal ? wrap(fact.value, screen.width, indent)
                                              : std::string(indent, ' ') + fact.value + "\n";
    bool first = true;
    for (const std::string_view line : lines(value)) {
      if (line.empty() && !first) continue;
      if (!first) out.append(indent, ' ');
      out += screen.paint(fact.style, trim(line)) + "\n";
      first = false;
    }
  }
  return out;
}

std::string size_text(std::int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", std::max<std::int64_t>(bytes, 0));
  constexpr std::array kUnits = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  // The limits are those of rounding: 999.5 would be shown as 1000, and 9.95 as 10.0.
  while (value >= 999.5 && unit + 1 < kUnits.size()) value /= 1000, ++unit;
  return value < 9.95 ? fmt::format("{:.1f} {}", value, kUnits[unit])
                      : fmt::format("{:.0f} {}", value, kUnits[unit]);
}

std::string duration_text(std::int64_t seconds) {
  const std::int64_t s = std::max<std::int64_t>(seconds, 0);
  const auto pair = [](std::int64_t big, const char* unit, std::int64_t small, const char* below) {
    return small > 0 ? fmt::format("{} {} {} {}", big, unit, small, below) : fmt::format("{} {}", big, unit);
  };
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min", s / 60);
  if (s < 86'400) return pair(s / 3600, "h", s % 3600 / 60, "min");
  return pair(s / 86'400, "d", s % 86'400 / 3600, "h");
}

std::string count_text(std::int64_t n, std::string_view one, std::string_view many) {
  return number_text(n) + " " + std::string(n == 1 ? one : many);
}

static std::string local(WallTime t, const char* form) {
  const std::time_t seconds = epoch_ms(t) / 1000;
  std::tm parts{};
  if (!localtime_r(&seconds, &parts)) return iso8601(t);  // the year does not fit
  char text[40];
  return {text, std::strftime(text, sizeof text, form, &parts)};
}

std::string local_time(WallTime t) {
  return local(t, "%Y-%m-%d %H:%M");
}

std::string local_clock(WallTime t) {
  return local(t, "%H:%M:%S");
}

}  // namespace cairn::cli
