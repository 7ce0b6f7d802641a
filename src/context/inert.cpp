#include "context/inert.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cairn::context {

namespace {

// Beginnings of tag names that a host, a model or cairn itself uses.
constexpr auto kTags = std::to_array<std::string_view>(
    {"system", "user",   "human",     "assistant",   "private",       "cairn",    "tool",      "function",
     "antml",  "invoke", "parameter", "command",     "local-command", "bash",     "task",      "thinking",
     "result", "output", "persisted", "instruction", "important",     "admin",    "developer", "ide_",
     "new-",   "fork",   "session",   "context",     "memory",        "document", "search",    "hook",
     "env",    "stdout", "stderr",    "summary",     "analysis",      "reminder", "channel"});

// The character that opens a tag: '<', lookalikes, and its escapes.
constexpr auto kOpening = std::to_array<std::string_view>(
    {"<", "\uff1c", "\ufe64", "\u27e8", "\u3008", "\u2039", "&lt;", "&#60;", "&#x3c;", "\\u003c", "%3c"});
constexpr auto kClosing = std::to_array<std::string_view>(
    {">", "\uff1e", "\ufe65", "\u27e9", "\u3009", "\u203a", "&gt;", "&#62;", "&#x3e;", "\\u003e", "%3e"});
// Characters that may come between that character and the name: white space, slashes and bars of any script.
constexpr auto kBetween = std::to_array<std::string_view>(
    {" ",      "\t",     "\n",     "/",      "\\",     "|",      "\u00a0", "\u1680", "\u2000", "\u2001",
     "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u202f",
     "\u205f", "\u2800", "\u3000", "\uff0f", "\uff3c", "\uff5c", "\u2044", "\u2215", "\u29f8", "\u2571"});
constexpr int kMostBetween = 8;
constexpr std::size_t kLongestName = 64;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// The length of the entry of `list` that `text` begins with; 0 when there is none.
template <std::size_t N>
std::size_t begins(std::string_view text, const std::array<std::string_view, N>& list) {
  for (const std::string_view sign : list)
    if (!text.empty() && text[0] == sign[0] && starts_with_nocase(text, sign)) return sign.size();
  return 0;
}

// The name at the beginning of `rest`, and whether the tag is closed after it.
struct Name {
  std::string_view text;
  bool closed = false;
};
Name name_of(std::string_view rest) {
  // A bound, so that many opening signs in one text take linear time.
  rest = rest.substr(0, 2 * kLongestName);
  std::size_t end = 0;
  while (end < rest.size() && begins(rest.substr(end), kClosing) == 0 &&
         begins(rest.substr(end), kBetween) == 0 && rest[end] != '<' && rest[end] != '=')
    ++end;
  Name name{rest.substr(0, end)};
  while (end < rest.size() && rest[end] != '<' && begins(rest.substr(end), kClosing) == 0) ++end;
  name.closed = end < rest.size() && rest[end] != '<';
  return name;
}

// Whether no programming language has such a type name: <some-words>, <a:word>, <some_words>, or another
// alphabet. `glued`: a word directly precedes the sign, as in vector<size_t>.
bool cannot_be_a_type(std::string_view name, bool glued) {
  if (name.empty() || name.size() > kLongestName) return false;
  if (std::any_of(name.begin(), name.end(), [](char c) { return (c & 0x80) != 0; })) return true;
  if (name[0] >= '0' && name[0] <= '9') return false;  // expected <03:10>
  if (!std::all_of(name.begin(), name.end(), [](char c) {
        return is_letter_or_digit(c) || c == '-' || c == '_' || c == ':' || c == '.';
      }))
    return false;
  const auto inside = [&](char c) {
    const std::size_t at = name.find(c);
    return at != std::string_view::npos && at > 0 && at + 1 < name.size() && is_letter_or_digit(name[at + 1]);
  };
  return inside('-') || inside(':') || (!glued && inside('_'));
}

// `rest` follows the opening sign. A known name is a tag even without a closing sign: it may come later.
bool is_tag(std::string_view rest, bool glued) {
  const bool barred = rest.starts_with('|');  // <|im_start|>
  for (int i = 0; i < kMostBetween; ++i) rest.remove_prefix(begins(rest, kBetween));
  for (const std::string_view tag : kTags)
    if (starts_with_nocase(rest, tag)) return true;
  const Name name = name_of(rest);
  return name.closed && ((barred && !name.text.empty()) || cannot_be_a_type(name.text, glued));
}

}  // namespace

std::string without_tags(std::string_view text) {
  constexpr std::string_view kInstead = "\u2039";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t sign = begins(text.substr(at), kOpening);
    const bool glued = at > 0 && (is_letter_or_digit(text[at - 1]) || text[at - 1] == '_');
    if (sign > 0 && is_tag(text.substr(at + sign), glued)) {
      out += kInstead;
      at += sign;
    } else {
      out += text[at++];
    }
  }
  return out;
}

bool is_speaker(std::string_view line) {
  static constexpr auto kSpeakers =
      std::to_array<std::string_view>({"human", "assistant", "system", "user", "developer", "h", "a"});
  constexpr std::string_view kMarkup = " \t*_>`~-\"'";
  line.remove_prefix(std::min(line.find_first_not_of(kMarkup), line.size()));
  std::size_t end = 0;
  bool latin = false, foreign = false;  // letters of two alphabets in one word imitate a name
  for (; end < line.size() && end < 40; ++end) {
    const auto byte = static_cast<unsigned char>(line[end]);
    if (line.substr(end).starts_with("\uff1a")) break;
    latin = latin || is_letter_or_digit(line[end]);
    // The first bytes of Greek and Cyrillic letters, of full-width letters, and of mathematical alphabets.
    foreign = foreign || (byte >= 0xce && byte <= 0xd3) || byte == 0xef || byte == 0xf0;
    if (byte < 0x80 && !is_letter_or_digit(line[end])) break;
  }
  const std::string_view word = line.substr(0, end);
  std::string_view rest = line.substr(end);
  rest.remove_prefix(std::min(rest.find_first_not_of(kMarkup), rest.size()));
  if (!rest.starts_with(':') && !rest.starts_with("\uff1a")) return false;
  if (latin && foreign) return true;
  return std::any_of(kSpeakers.begin(), kSpeakers.end(), [&](std::string_view speaker) {
    return word.size() == speaker.size() && starts_with_nocase(word, speaker);
  });
}

}  // namespace cairn::context
