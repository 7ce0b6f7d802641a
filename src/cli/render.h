// Formats output for people: columns, paragraphs, colours, times and sizes.
//
// Text in, text out. Pass stored text through shown() or shown_line() first, so that it cannot control the
// terminal. Only a terminal gets colours and cut lines; piped output is plain and complete.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"

namespace cairn::cli {

enum class Style { plain, bold, dim, good, warn, bad, accent, match };

// Ranges of a text, in bytes from and to, in order.
using Marks = std::vector<std::pair<std::size_t, std::size_t>>;

// Where output goes.
struct Screen {
  bool terminal = false;
  bool colour = false;
  std::size_t width = 80;  // columns; only a terminal has a limit

  // Detected from descriptor `fd`, NO_COLOR, TERM and COLUMNS.
  static Screen of(int fd, bool no_colour);

  std::string paint(Style style, std::string_view text) const;
  // The marked ranges in Style::match, the rest in `style`. Marks beyond the text are ignored.
  std::string paint(Style style, std::string_view text, const Marks& marks) const;
  // The width of paragraphs: limited, because very long lines are hard to read.
  std::size_t text_width() const { return terminal && width < 100 ? width : 100; }
};

// Stored text made safe for people and models: nothing in it can control the terminal, or look like a tag of
// the host or another speaker. shown_line() puts it on one line.
std::string shown(std::string_view text);
// JSON made safe for a terminal: what shown() removes is written as \uXXXX, so that the value stays the same.
std::string shown_json(std::string_view json);
std::string shown_line(std::string_view text);

// `text` (one line) cut to `columns` on the terminal, with "…" when something is missing.
std::string fit(std::string_view text, std::size_t columns);

// `text` followed by blanks up to `columns`; whole when it is longer.
std::string pad(std::string_view text, std::size_t columns);

// Breaks paragraphs between words at `width`; every line begins with `indent` blanks. Keeps line breaks and
// the indentation of lines. A word that is too long has a line of its own.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

// Rows with aligned columns. On a terminal the last column is cut so that a row fits on one line.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;
  };
  struct Cell {
    Cell(std::string t, Style s = Style::plain, Marks m = {})
        : text(std::move(t)), style(s), marks(std::move(m)) {}
    Cell(const char* t) : text(t) {}
    std::string text;
    Style style = Style::plain;
    Marks marks;  // ranges in a text that is on one line already
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column; their texts are put on one line.
  void add(std::vector<Cell> row);
  // A line below the last row, starting at its second column; cut on a terminal only.
  void add_below(Cell line);
  bool empty() const { return rows_.empty(); }
  // Whether nothing has to be cut.
  bool fits(const Screen& screen) const;
  std::string text(const Screen& screen) const;

 private:
  std::vector<std::size_t> full_widths() const;
  std::vector<std::size_t> widths(const Screen& screen) const;

  struct Row {
    std::vector<Cell> cells;
    std::vector<Cell> below;
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// Aligned lines of a label and its value. A long value continues below itself.
class Facts {
 public:
  void add(std::string label, std::string value, Style style = Style::plain);
  std::string text(const Screen& screen) const;

 private:
  struct Fact {
    std::string label, value;
    Style style;
  };
  std::vector<Fact> facts_;
};

// "1.2 MB"; "12 s", "5 min", "2 h 5 min", "3 d 4 h"; "1 session", "3 sessions".
std::string size_text(std::int64_t bytes);
std::string duration_text(std::int64_t seconds);
std::string count_text(std::int64_t n, std::string_view one, std::string_view many);

// In the user's time zone: "2026-11-15 18:36", and "18:36:37".
std::string local_time(WallTime t);
std::string local_clock(WallTime t);

}  // namespace cairn::cli
