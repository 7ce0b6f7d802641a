#include "distil/sentences.h"

#include <algorithm>
#include <initializer_list>

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

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// `cue` in lower-case `text` with no letter beside it.
std::size_t find_word(std::string_view text, std::string_view cue) {
  for (std::size_t at = text.find(cue); at != std::string_view::npos; at = text.find(cue, at + 1)) {
    const bool before = at == 0 || !is_word_char(text[at - 1]);
    const std::size_t end = at + cue.size();
    if (before && (end >= text.size() || !is_word_char(text[end]))) return at;
  }
  return std::string_view::npos;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> cues) {
  return std::any_of(cues.begin(), cues.end(),
                     [&](auto cue) { return find_word(text, cue) != std::string_view::npos; });
}

bool states_finding(std::string_view lower) {
  return has_any(lower, {"because", "the problem was", "the problem is", "the issue was", "the issue is",
                         "turns out", "turned out", "root cause", "decided", "the fix", "caused by",
                         "the cause", "the reason", "the culprit"});
}

bool states_remainder(std::string_view lower) {
  if (has_any(lower, {"next step", "next steps", "remaining", "remains", "todo", "not yet", "follow-up",
                      "follow up", "left to do", "still need", "still needs", "still to do", "still fails",
                      "still failing", "still missing", "still open"}))
    return true;
  const std::size_t still = find_word(lower, "still");
  if (still != std::string_view::npos)
    return !has_any(lower.substr(still), {"still pass", "still passes", "still work", "still works",
                                          "still passing", "still green"});
  return lower.starts_with("next,") || lower.starts_with("next:") ||
         has_any(lower, {"next i", "next, i", "do next", "comes next", "is next"});
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
  if (!line.item && text.size() < 80 && text.ends_with(':')) line.heading = true;
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

bool ends_sentence(std::string_view text, std::size_t at) {
  if (text[at] != '.' && text[at] != '!' && text[at] != '?') return false;
  if (at + 1 == text.size()) return true;
  if (text[at + 1] != ' ' || at + 2 >= text.size()) return false;
  const std::string_view before = text.substr(0, at + 1);
  if (before.ends_with("e.g.") || before.ends_with("i.e.") || before.ends_with("etc.") ||
      before.ends_with("vs."))
    return false;
  const char next = text[at + 2];
  return !(next >= 'a' && next <= 'z');
}

void split_sentences(std::string_view text, std::vector<std::string>& out) {
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!ends_sentence(text, i)) continue;
    out.push_back(one_line(text.substr(from, i + 1 - from), kMaxSentence));
    from = i + 1;
  }
  if (const std::string_view rest = trim(text.substr(from)); !rest.empty())
    out.push_back(one_line(rest, kMaxSentence));
}

void add_unique(std::vector<std::string>& list, std::string sentence) {
  if (list.size() < kMaxFound && std::find(list.begin(), list.end(), sentence) == list.end())
    list.push_back(std::move(sentence));
}

}  // namespace

std::vector<std::string> sentences(std::string_view text) {
  std::vector<std::string> out;
  for (const Line& line : prose_lines(text)) split_sentences(line.text, out);
  return out;
}

std::vector<std::string> findings(std::string_view answer) {
  std::vector<std::string> out;
  for (std::string& sentence : sentences(answer))
    if (states_finding(ascii_lower(sentence))) add_unique(out, std::move(sentence));
  return out;
}

std::vector<std::string> remaining_work(std::string_view answer) {
  std::vector<std::string> out;
  bool under_heading = false;
  for (const Line& line : prose_lines(answer)) {
    if (line.text.empty()) continue;
    const std::string lower = ascii_lower(line.text);
    if (line.heading) {
      under_heading = states_remainder(lower) || lower.starts_with("next");
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
      if (states_remainder(ascii_lower(sentence))) add_unique(out, std::move(sentence));
  }
  return out;
}

std::string shorten(std::string_view text, std::size_t max) {
  text = trim(text);
  if (text.size() <= max) return std::string(text);
  constexpr std::string_view kEllipsis = " \xe2\x80\xa6";
  if (max <= kEllipsis.size()) return std::string(prefix(text, max));
  const std::string_view room = prefix(text, max - kEllipsis.size());
  std::size_t end = room.size();
  for (std::size_t i = room.size(); i > room.size() / 2; --i)
    if (room[i - 1] == '\n' || (i < room.size() && room[i] == ' ' && ends_sentence(text, i - 1))) {
      end = i;
      break;
    }
  if (end == room.size())
    if (const std::size_t blank = room.rfind(' '); blank != std::string_view::npos && blank > room.size() / 2)
      end = blank;
  return std::string(trim(room.substr(0, end))).append(kEllipsis);
}

}  // namespace cairn::distil
