#include "event/origin.h"

#include <array>
#include <vector>

#include "base/text.h"

namespace cairn {

// Two steps keep strangers from faking a label. While text is composed, a quote is between two control
// characters, which no text from outside contains (visible() removes them). When the text is final,
// labelled() turns them into a label, and makes harmless what else looks like one or could end one too early.

namespace {

constexpr std::array kOrigins = {Origin::output, Origin::web, Origin::mcp};
constexpr char kEnd = '\x04';  // ends a quote; a quote begins with 1, 2 or 3

char mark_of(Origin origin) {
  return static_cast<char>(1 + static_cast<int>(origin));
}

std::string opening(Origin origin) {
  return "[" + std::string(origin_name(origin)) + ": ";
}

// The length of the character at text[at] if it looks like an opening bracket (also wide, mathematical and
// East Asian ones); 0 when it does not.
std::size_t opens(std::string_view text, std::size_t at) {
  for (const std::string_view sign :
       {"[", "\xef\xbc\xbb", "\xe3\x80\x90", "\xe3\x80\x94", "\xe3\x80\x9a", "\xe2\x9f\xa6", "\xe2\x81\x85"})
    if (text.substr(at).starts_with(sign)) return sign.size();
  return 0;
}

std::size_t after_blanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t\n", at), text.size());
}

// Whether the text after an opening bracket names an origin: "web]", " Output :", "mcp, web]".
bool names_an_origin(std::string_view rest) {
  rest.remove_prefix(after_blanks(rest, 0));
  for (const Origin origin : kOrigins) {
    const std::string_view name = origin_name(origin);
    if (!starts_with_nocase(rest, name)) continue;
    const std::string_view next = rest.substr(after_blanks(rest, name.size()));
    for (const std::string_view sign : {":", "]", ",", "\xef\xbc\x9a", "\xef\xbc\xbd"})
      if (next.starts_with(sign)) return true;
  }
  return false;
}

// Appends untrusted text without anything that looks like a label. In a quote, unmatched brackets are
// replaced too: "a] b" would end the quote after "a", and "[a" would hide its end. A closing bracket gets the
// form of its opening one, which `open` remembers.
void append_neutral(std::string& out, std::string_view text, bool in_quote) {
  struct Open {
    std::size_t at;
    bool harmless;
  };
  std::vector<Open> open;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t sign = opens(text, at); sign > 0) {
      const bool harmless = !names_an_origin(text.substr(at + sign));
      if (text[at] == '[') open.push_back({out.size(), harmless});
      out += harmless ? text.substr(at, sign) : "(";
      at += sign;
      continue;
    }
    const char c = text[at++];
    if (c != ']') {
      if (c > kEnd || c < 1) out += c;  // drops marks; bytes beyond ASCII are negative, and stay
    } else if (open.empty()) {
      out += in_quote ? ')' : ']';
    } else {
      out += open.back().harmless ? ']' : ')';
      open.pop_back();
    }
  }
  if (in_quote)
    for (const Open& bracket : open) out[bracket.at] = '(';
}

std::optional<Origin> marked(char c) {
  for (const Origin origin : kOrigins)
    if (c == mark_of(origin)) return origin;
  return std::nullopt;
}

}  // namespace

std::string_view origin_name(Origin origin) {
  switch (origin) {
    case Origin::output: return "output";
    case Origin::web: return "web";
    case Origin::mcp: return "mcp";
  }
  return "";
}

std::string quote(std::optional<Origin> origin, std::string_view text) {
  if (!origin || text.empty()) return std::string(text);
  return mark_of(*origin) + std::string(text) + kEnd;
}

std::string labelled(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    std::size_t begin = 0;
    while (begin < text.size() && !marked(text[begin])) ++begin;
    append_neutral(out, text.substr(0, begin), false);
    if (begin == text.size()) break;
    const Origin origin = *marked(text[begin]);
    text.remove_prefix(begin + 1);
    const std::size_t end = std::min(text.find_first_of("\x04\n"), text.size());
    out += opening(origin);
    append_neutral(out, text.substr(0, end), true);
    out += ']';
    // The end mark goes; a line feed stays as part of the text that follows.
    text.remove_prefix(end < text.size() && text[end] == kEnd ? end + 1 : end);
  }
  return out;
}

std::string_view open_label(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  std::string_view found;
  std::size_t begin = 0;
  for (const Origin origin : kOrigins)
    if (const std::size_t last = before.rfind(opening(origin));
        last != std::string_view::npos && (found.empty() || last > begin)) {
      begin = last;
      found = before.substr(last, opening(origin).size());
    }
  // It is open unless its bracket was closed again, or its line ended.
  int depth = 0;
  for (const char c : found.empty() ? std::string_view() : before.substr(begin))
    if (c == '\n' || (depth += (c == '[') - (c == ']')) == 0) return {};
  return found;
}

// More than once where the label itself has open brackets: "[output: see [3".
std::string closed(std::string cut) {
  while (!open_label(cut, cut.size()).empty()) cut += ']';
  return cut;
}

Origins origins_in(std::string_view text) {
  Origins found;
  for (const Origin origin : kOrigins)
    if (text.find(opening(origin)) != std::string_view::npos) found.insert(origin);
  return found;
}

std::string label(const Origins& origins) {
  std::string text;
  for (const Origin origin : origins) text.append(text.empty() ? " [" : ", ").append(origin_name(origin));
  return text.empty() ? text : text + "]";
}

}  // namespace cairn
