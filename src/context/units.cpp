#include "context/units.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "distil/distil.h"

namespace cairn::context {

// The splitter reads line by line. `pending_` collects a paragraph or a list item that may go on in the
// next line; flush() turns it into units. Three things can stand above a unit as its heading: a Markdown
// heading or a bold line (`section_`, until the next one), a line that ends in a colon (`leads_`, for the
// list right below it), and a list item that ends in a colon (`lead_indent_`, for the items that are
// indented below it).

namespace {

// "## Done", but not "#12 is broken".
bool is_heading(std::string_view line) {
  const std::size_t end = line.find_first_not_of('#');
  return end != 0 && (end == std::string_view::npos || line[end] == ' ');
}

constexpr std::size_t kLongest = 420;   // bytes of a unit; a longer one is not a sentence
constexpr std::size_t kLongItem = 300;  // a longer list item is split into sentences
constexpr std::size_t kLongHeading = 90;
constexpr std::size_t kBrokenLine = 50;  // a line of this size without an end mark continues on the next line

// The bytes of the mark that ends a sentence at `at`; 0: none does. The full-width marks need no blank.
std::size_t sentence_mark(std::string_view text, std::size_t at) {
  for (const std::string_view wide : {"\u3002", "\uff01", "\uff1f"})
    if (text.substr(at).starts_with(wide)) return wide.size();
  if (text[at] != '.' && text[at] != '!' && text[at] != '?') return 0;
  std::size_t after = at + 1;
  while (after < text.size() && (text[after] == '"' || text[after] == ')' || text[after] == '*')) ++after;
  if (after == text.size()) return after - at;
  if (text[after] != ' ' || after + 1 >= text.size()) return 0;
  if (distil::ends_abbreviated(text.substr(0, at + 1))) return 0;
  // A small letter after the mark: "e.g. this" and "version 2. beta" go on.
  const char next = text[after + 1];
  return next >= 'a' && next <= 'z' ? 0 : after - at;
}

std::string without_emphasis(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '*' && i + 1 < text.size() && text[i + 1] == '*') {
      ++i;
      continue;
    }
    out += text[i];
  }
  return one_line(out, out.size() + 8);
}

// "- ", "* ", "3. ": the bytes of a list's mark; 0: none.
std::size_t list_mark(std::string_view line) {
  for (const std::string_view mark : {"- ", "* ", "+ ", "\u2022 "})
    if (line.starts_with(mark)) return mark.size();
  const std::size_t digits = line.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos || digits > 3) return 0;
  const std::string_view rest = line.substr(digits);
  return rest.starts_with(". ") || rest.starts_with(") ") ? digits + 2 : 0;
}

bool ends_in_colon(std::string_view text) {
  return text.ends_with(':') || text.ends_with("\uff1a");
}

std::string without_colon(std::string text) {
  while (ends_in_colon(text)) text.resize(text.size() - (text.ends_with(':') ? 1 : 3));
  return text;
}

bool points_back(std::string_view text) {
  constexpr std::size_t kBeginning = 24;
  return distil::begins_with_cue(distil::fold(text.substr(0, kBeginning)), distil::code_mode().points_back);
}

class Splitter {
 public:
  Split run(std::string_view text) {
    for (const std::string_view raw : lines(text)) take(raw);
    flush();
    return std::move(out_);
  }

 private:
  void take(std::string_view raw) {
    const std::string_view line = trim(raw);
    if (line.starts_with("```") || line.starts_with("~~~")) {
      flush();
      code_ = !code_;
      ++block_;
      return;
    }
    if (code_) return add(one_line(line, line.size() + 8), Unit::Form::code);
    if (line.empty()) {
      flush();
      ++block_;
      table_ = false;
      return;
    }
    if (line.starts_with('|')) return flush(), take_row(line);
    table_ = false;
    if (line.find_first_not_of("-=*_ ") == std::string_view::npos) return flush();  // a horizontal line
    const std::string plain = without_emphasis(line);
    const bool all_bold = line.starts_with("**") && (line.ends_with("**") || line.ends_with("**:"));
    if (is_heading(line) || (all_bold && plain.size() <= kLongHeading)) return flush(), head(plain, false);
    const std::size_t indent = static_cast<std::size_t>(line.data() - raw.data());
    if (const std::size_t mark = list_mark(line)) return flush(), take_item(line.substr(mark), indent);
    if (goes_on(plain)) {  // a sentence that spans several lines
      pending_ += " " + plain;
      return;
    }
    flush();
    if (ends_in_colon(plain) && plain.size() <= kLongHeading) return head(plain, true);
    if (leads_) heading_ = section_, leads_ = false;  // "Next steps:" heads only the list right below it
    pending_ = plain;
    pending_item_ = false;
  }

  // Whether `line` continues the line before it, which ended in the middle of a sentence.
  bool goes_on(std::string_view line) const {
    if (pending_.empty()) return false;
    const bool ended = std::string_view(".!?:").find(pending_.back()) != std::string_view::npos;
    const bool small = line[0] >= 'a' && line[0] <= 'z';
    return small || (!ended && pending_.size() >= kBrokenLine);
  }

  // Ends the paragraph or the item that is being read.
  void flush() {
    const std::string text = std::move(pending_);
    pending_.clear();
    if (text.empty()) return;
    if (pending_item_ && text.size() <= kLongItem) return add(text, Unit::Form::item);
    for (std::string& sentence : split_line(text)) add(std::move(sentence), Unit::Form::sentence);
  }

  // `leads`: a line that ends in a colon, over the list below it.
  void head(std::string text, bool leads) {
    while (text.starts_with('#')) text.erase(0, 1);
    text = without_colon(std::string(trim(text)));
    if (text.empty()) return;
    ++block_;
    lead_indent_.reset();
    out_.headings.push_back(std::move(text));
    heading_ = static_cast<int>(out_.headings.size()) - 1;
    leads_ = leads;
    if (!leads) section_ = heading_;
  }

  void take_item(std::string_view rest, std::size_t indent) {
    std::string text = without_emphasis(trim(rest));
    for (const std::string_view box : {"[ ] ", "[x] ", "[X] "})
      if (text.starts_with(box)) text.erase(0, box.size());
    // An item that only introduces the items below it is their heading.
    if (lead_indent_ && indent <= *lead_indent_) {
      heading_ = lead_before_;
      lead_indent_.reset();
    }
    ++block_;
    if (ends_in_colon(text) && text.size() <= kLongHeading) {
      if (!lead_indent_) lead_before_ = heading_;
      lead_indent_ = indent;
      out_.headings.push_back(without_colon(std::move(text)));
      heading_ = static_cast<int>(out_.headings.size()) - 1;
      return;
    }
    pending_ = std::move(text);
    pending_item_ = true;
  }

  void take_row(std::string_view line) {
    if (line.find_first_not_of("|-: \t") == std::string_view::npos) return;  // between head and body
    const bool first = !table_;
    table_ = true;
    std::string text;
    for (const std::string_view cell : split(line, '|')) {
      const std::string plain = without_emphasis(trim(cell));
      if (!plain.empty()) text += (text.empty() ? "" : " | ") + plain;
    }
    ++block_;
    // The first row names the columns. It says nothing itself.
    if (!first) add(std::move(text), Unit::Form::row);
  }

  void add(std::string text, Unit::Form form) {
    // A bullet or a bracket alone is no unit.
    if (text.size() < 4 || text.size() > kLongest) return;
    Unit unit;
    unit.introduces = ends_in_colon(text);
    unit.continues = points_back(text);
    unit.text = std::move(text);
    unit.form = form;
    unit.block = block_;
    unit.heading = heading_;
    out_.units.push_back(std::move(unit));
  }

  Split out_;
  bool code_ = false, table_ = false;
  std::string pending_;  // a paragraph or item that may continue on the next line
  bool pending_item_ = false;
  std::size_t block_ = 0;
  // Indexes in Split::headings: of what comes next, and of the last heading that is not a lead.
  int heading_ = -1, section_ = -1;
  bool leads_ = false;
  std::optional<std::size_t> lead_indent_;
  // The heading before the item that leads: the one to go back to.
  int lead_before_ = -1;
};

}  // namespace

// The end of the quote that begins at `at`, the end of the text when it has none; `at` when none begins.
static std::size_t quote_end(std::string_view text, std::size_t at) {
  const char mark = text[at];
  if (mark != '\'' && mark != '"' && mark != '`') return at;
  if (at > 0 && text[at - 1] != ' ' && text[at - 1] != '(') return at;
  const std::size_t end = text.find(mark, at + 1);
  return end == std::string_view::npos ? text.size() - 1 : end;
}

static std::vector<std::string> split_sentences(std::string_view text, bool whole_quotes) {
  std::vector<std::string> out;
  std::size_t from = 0;
  int depth = 0;  // of brackets: a label or a link is not split
  // With an unpaired bracket the depth would never come back to zero, and the rest would be one sentence.
  const bool paired = std::count(text.begin(), text.end(), '[') == std::count(text.begin(), text.end(), ']');
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (whole_quotes) i = quote_end(text, i);
    if (paired) depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    const std::size_t mark = depth > 0 ? 0 : sentence_mark(text, i);
    if (mark == 0) continue;
    out.emplace_back(trim(text.substr(from, i + mark - from)));
    from = i + mark;
    i = from - 1;
  }
  if (const std::string_view rest = trim(text.substr(std::min(from, text.size()))); !rest.empty())
    out.emplace_back(rest);
  return out;
}

std::vector<std::string> split_line(std::string_view text) {
  return split_sentences(text, false);
}

Split split_facts(std::string_view text) {
  Split out;
  std::size_t block = 0;
  for (const std::string_view line : lines(text)) {
    ++block;
    for (std::string& sentence : split_sentences(one_line(line, line.size() + 8), true)) {
      Unit& unit = out.units.emplace_back();
      unit.text = std::move(sentence);
      unit.block = block;
    }
  }
  return out;
}

Split split_text(std::string_view text) {
  return Splitter().run(text);
}

}  // namespace cairn::context
