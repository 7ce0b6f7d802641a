#include "distil/answer_lines.h"

#include <algorithm>

#include "base/text.h"

namespace cairn::distil {

namespace {

// "**Next steps**" without its marks; "**a** and **b**" stays, because the marks are not one pair.
std::string_view without_emphasis(std::string_view text) {
  text = trim(text);
  for (const std::string_view mark : {"**", "__", "*"})
    while (text.size() > 2 * mark.size() && text.starts_with(mark) && text.ends_with(mark) &&
           text.substr(mark.size(), text.size() - 2 * mark.size()).find(mark) == std::string_view::npos)
      text = trim(text.substr(mark.size(), text.size() - 2 * mark.size()));
  return text;
}

// `text` from its first letter, digit or quote on, without signs, arrows and pictures: "Next" of "-> Next".
std::string_view from_letter(std::string_view text) {
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    // First bytes of letters in UTF-8. 0xe2 begins arrows and signs, 0xf0 emoji.
    const bool foreign = c >= 0xc3 && c != 0xe2 && c < 0xf0;
    if (letter || foreign || c == '`' || c == '/' || c == '"' || c == '\'') break;
    text.remove_prefix(1);
  }
  return text;
}

// How many bytes of `text` are the mark of a list; 0: none.
std::size_t list_mark(std::string_view text) {
  for (const std::string_view mark : {"- ", "* ", "+ ", "\u2022 "})
    if (text.starts_with(mark)) return mark.size();
  const std::size_t digits = text.find_first_not_of("0123456789");
  // "2024. " is a year at the end of a sentence, not the mark of an item.
  if (digits == 0 || digits > 3 || digits == std::string_view::npos) return 0;
  return text.substr(digits).starts_with(". ") || text.substr(digits).starts_with(") ") ? digits + 2 : 0;
}

void read_item(AnswerLine& line, std::string_view text) {
  line.kind = AnswerLine::Kind::item;
  text = trim(text);
  for (const std::string_view box : {"[x] ", "[X] ", "\u2705", "\u2714", "~~", "\u2713"})
    if (text.starts_with(box)) line.done = true;
  for (const std::string_view box : {"[ ] ", "[x] ", "[X] "})
    if (text.starts_with(box)) text.remove_prefix(box.size());
  line.text = without_emphasis(text);
}

// "Next:" and "**Next steps:** add the test". The label is short and contains no end of a sentence.
void read_label(AnswerLine& line) {
  constexpr std::size_t kLongest = 60;
  const std::string_view text = line.text;
  std::size_t colon = text.find(':'), bytes = 1;
  if (const std::size_t wide = text.find("\uff1a"); wide < colon) colon = wide, bytes = 3;
  if (colon == std::string_view::npos || colon > kLongest) return;
  const std::string_view label = text.substr(0, colon);
  if (label.find_first_of(".?!`/(") != std::string_view::npos) return;
  std::string_view rest = trim(text.substr(colon + bytes));
  while (rest.starts_with('*')) rest.remove_prefix(1);
  line.kind = AnswerLine::Kind::heading;
  line.rest = trim(rest);
  std::string name(label);
  std::erase(name, '*');
  line.text = trim(name);
}

AnswerLine read_answer_line(std::string_view raw) {
  AnswerLine line;
  std::string_view text = trim(raw);
  // "---" and "***" are rules between sections.
  if (text.empty() || text.find_first_not_of("-=_*") == std::string_view::npos) {
    line.kind = AnswerLine::Kind::blank;
    return line;
  }
  if (text.starts_with('>') || text.starts_with('|')) {
    line.kind = AnswerLine::Kind::quote;
    line.text = text;
    return line;
  }
  if (text.starts_with('#')) {
    line.kind = AnswerLine::Kind::heading;
    while (text.starts_with('#')) text.remove_prefix(1);
    line.text = without_emphasis(text);
    return line;
  }
  if (const std::size_t mark = list_mark(text)) {
    line.depth = raw.starts_with("  ") || raw.starts_with('\t') ? 1 : 0;
    read_item(line, text.substr(mark));
    return line;
  }
  line.text = without_emphasis(text);
  return line;
}

}  // namespace

std::vector<AnswerLine> answer_lines(std::string_view answer, const Mode& mode) {
  std::vector<AnswerLine> out;
  bool code = false;
  for (const std::string_view raw : lines(answer)) {
    const std::string_view start = trim(raw);
    if (start.starts_with("```") || start.starts_with("~~~")) {
      code = !code;
      continue;
    }
    if (code) continue;
    AnswerLine line = read_answer_line(raw);
    if (line.kind == AnswerLine::Kind::text) {
      AnswerLine labelled = line;
      read_label(labelled);
      // "Note: the cache is off" is a sentence. A label is a heading only when it stands alone or announces
      // what is left to do.
      if (labelled.kind == AnswerLine::Kind::heading &&
          (labelled.rest.empty() || is_next_heading(labelled.text, mode)))
        line = std::move(labelled);
    }
    out.push_back(std::move(line));
  }
  return out;
}

bool is_next_heading(std::string_view heading, const Mode& mode) {
  std::string folded = fold(from_letter(heading));
  while (folded.ends_with(':')) folded.pop_back();
  if (!has_cue(folded, mode.headings)) return false;
  const std::string rest =
      without_cues(without_cues(std::move(folded), mode.headings), mode.allowed_in_heading);
  return rest.find_first_not_of(" \t&,-'()") == std::string::npos;
}

}  // namespace cairn::distil
