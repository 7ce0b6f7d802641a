#include "distil/sentences.h"

#include <algorithm>

#include "base/text.h"

namespace cairn::distil {

namespace {

constexpr std::size_t kMaxSentence = 400;
constexpr std::size_t kMaxFound = 6;

struct Line {
  std::string_view text;
  bool heading = false;  // "## Next steps" or "Next steps:"
  bool item = false;     // of a list
};

// Whether the sentence is about remaining work. "Nothing left to do" is not: this cue of `resolved` cancels
// the cue "left to do".
bool states_remainder(std::string_view sentence, const Mode& mode) {
  return has_cue(without_cues(fold(sentence), mode.resolved), mode.remains);
}

std::string_view strip_emphasis(std::string_view text) {
  text = trim(text);
  while (text.size() > 4 && text.starts_with("**") && text.ends_with("**"))
    text = trim(text.substr(2, text.size() - 4));
  return text;
}

// The line without its list mark or heading signs.
Line read_line(std::string_view raw) {
  Line line{trim(raw)};
  std::string_view& text = line.text;
  if (text.starts_with('#')) {
    line.heading = true;
    while (text.starts_with('#')) text.remove_prefix(1);
  } else if (text.starts_with("- ") || text.starts_with("* ") || text.starts_with("\u2022 ")) {
    line.item = true;
    text.remove_prefix(text.find(' '));
  } else {
    const std::size_t digits = text.find_first_not_of("0123456789");
    if (digits > 0 && digits < 4 && digits != std::string_view::npos &&
        (text.substr(digits).starts_with(". ") || text.substr(digits).starts_with(") "))) {
      line.item = true;
      text.remove_prefix(digits + 1);
    }
  }
  text = trim(text);
  for (const std::string_view box : {"[ ] ", "[x] ", "[X] "})
    if (line.item && text.starts_with(box)) text.remove_prefix(box.size());
  text = strip_emphasis(text);
  if (!line.item && text.size() < 80 && (text.ends_with(':') || text.ends_with("\xef\xbc\x9a")))
    line.heading = true;
  return line;
}

std::vector<Line> prose_lines(std::string_view text) {
  std::vector<Line> out;
  bool code = false;
  for (const std::string_view raw : lines(text)) {
    const std::string_view start = trim(raw);
    if (start.starts_with("```") || start.starts_with("~~~")) {
      code = !code;
      continue;
    }
    if (!code && !start.starts_with('|')) out.push_back(read_line(raw));
  }
  return out;
}

// The bytes of the mark that ends a sentence at `at`; 0: none does. The full-width marks need no blank.
std::size_t sentence_mark(std::string_view text, std::size_t at) {
  for (const std::string_view wide : {"\u3002", "\uff01", "\uff1f"})
    if (text.substr(at).starts_with(wide)) return wide.size();
  if (text[at] != '.' && text[at] != '!' && text[at] != '?') return 0;
  if (at + 1 == text.size()) return 1;
  // "parser.cpp" and "1.2": a mark inside a word ends nothing.
  if (text[at + 1] != ' ' || at + 2 >= text.size()) return 0;
  if (ends_abbreviated(text.substr(0, at + 1))) return 0;
  const char next = text[at + 2];
  // A small letter continues the sentence, as after an abbreviation that is not in the list.
  return next >= 'a' && next <= 'z' ? 0 : 1;
}

void split_sentences(std::string_view text, std::vector<std::string>& out) {
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t mark = sentence_mark(text, i);
    if (mark == 0) continue;
    out.push_back(one_line(text.substr(from, i + mark - from), kMaxSentence));
    from = i + mark;
    i = from - 1;
  }
  if (const std::string_view rest = trim(text.substr(from)); !rest.empty())
    out.push_back(one_line(rest, kMaxSentence));
}

void add_unique(std::vector<std::string>& list, std::string sentence) {
  if (list.size() < kMaxFound && std::find(list.begin(), list.end(), sentence) == list.end())
    list.push_back(std::move(sentence));
}

}  // namespace

bool ends_abbreviated(std::string_view text) {
  constexpr std::size_t kLongest = 16;
  const std::string end = fold(text.substr(text.size() - std::min(text.size(), kLongest)));
  const Cues& known = code_mode().abbreviations;
  return std::any_of(known.begin(), known.end(),
                     [&](const std::string& each) { return end.ends_with(each); });
}

std::vector<std::string> sentences(std::string_view text) {
  std::vector<std::string> out;
  for (const Line& line : prose_lines(text)) split_sentences(line.text, out);
  return out;
}

std::vector<Statement> statements(std::string_view answer, const Mode& mode) {
  std::vector<Statement> out;
  std::vector<std::string> all;
  for (const Line& line : prose_lines(answer))
    if (!line.heading) split_sentences(line.text, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string& sentence = all[i];
    if (out.size() >= kMaxFound) break;
    if (sentence.ends_with(':')) continue;  // it only introduces what follows
    const std::string folded = fold(sentence);
    // A decision names the alternative, in this sentence or in the next.
    const bool decision = has_cue(folded, mode.decisions) &&
                          (has_cue(folded, mode.rejected_alternative) ||
                           (i + 1 < all.size() && has_cue(fold(all[i + 1]), mode.rejected_alternative)));
    if (!decision && !has_cue(folded, mode.findings)) continue;
    const auto same = [&](const Statement& s) { return s.text == sentence; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back({std::move(sentence), decision});
  }
  return out;
}

std::vector<std::string> remaining_work(std::string_view answer, const Mode& mode) {
  std::vector<std::string> out;
  bool under_heading = false;
  for (const Line& line : prose_lines(answer)) {
    if (line.text.empty()) continue;
    if (line.heading) {
      under_heading = has_cue(fold(line.text), mode.headings);
      continue;
    }
    if (under_heading && line.item) {
      add_unique(out, one_line(line.text, kMaxSentence));
      continue;
    }
    under_heading = under_heading && line.item;
    std::vector<std::string> parts;
    split_sentences(line.text, parts);
    for (std::string& sentence : parts)
      if (states_remainder(sentence, mode)) add_unique(out, std::move(sentence));
  }
  return out;
}

std::string shorten(std::string_view text, std::size_t max) {
  text = trim(text);
  if (text.size() <= max) return std::string(text);
  constexpr std::string_view kEllipsis = " \xe2\x80\xa6";
  if (max <= kEllipsis.size()) return std::string(prefix(text, max));
  const std::string_view room = prefix(text, max - kEllipsis.size());
  // Search backwards for the end of a sentence or a line, but keep at least half of the room.
  std::size_t end = room.size();
  for (std::size_t i = room.size(); i > room.size() / 2; --i)
    if (room[i - 1] == '\n' || (i < room.size() && room[i] == ' ' && sentence_mark(text, i - 1) > 0)) {
      end = i;
      break;
    }
  if (end == room.size())
    if (const std::size_t blank = room.rfind(' '); blank != std::string_view::npos && blank > room.size() / 2)
      end = blank;
  return std::string(trim(room.substr(0, end))).append(kEllipsis);
}

}  // namespace cairn::distil
