#include "agent/reply_tags.h"

#include <charconv>
#include <utility>

#include "base/text.h"

namespace cairn::agent::tags {

static constexpr std::size_t kMaxTag = 300;  // bytes of a tag with its attributes; a longer one is text

namespace {
struct Word {
  std::string_view text;
  Name name;
};
}  // namespace
// Some have several names, as models write them; word_of() gives the first.
static constexpr Word kWords[] = {{"observation", observation},
                                  {"summary", summary},
                                  {"session_summary", summary},
                                  {"skip", skip},
                                  {"skip_summary", skip},
                                  {"think", think},
                                  {"thinking", think},
                                  {"reasoning", think},
                                  {"type", type},
                                  {"title", title},
                                  {"subtitle", subtitle},
                                  {"narrative", narrative},
                                  {"facts", facts},
                                  {"concepts", concepts},
                                  {"files_read", files_read},
                                  {"files_modified", files_modified},
                                  {"events", events},
                                  {"request", request},
                                  {"investigated", investigated},
                                  {"learned", learned},
                                  {"completed", completed},
                                  {"next_steps", next_steps},
                                  {"notes", notes},
                                  {"rules", rules},
                                  {"fact", fact},
                                  {"concept", concept_item},
                                  {"file", file},
                                  {"rule", rule},
                                  {"step", step}};

std::string_view word_of(Name name) {
  std::size_t i = 0;
  while (kWords[i].name != name) ++i;
  return kWords[i].text;
}

static bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::optional<Tag> tag_at(std::string_view text, std::size_t at) {
  Tag tag;
  tag.begin = at;
  std::size_t i = at + 1;
  if (i < text.size() && text[i] == '/') {
    tag.closes = true;
    ++i;
  }
  const std::size_t name_at = i;
  // No name has more than 15 letters. The bounds here and below keep the scan linear in a text full of '<'.
  while (i < text.size() && i - name_at < 16 && is_name_char(text[i])) ++i;
  const std::string_view name = text.substr(name_at, i - name_at);
  for (const Word& word : kWords)
    if (word.text.size() == name.size() && starts_with_nocase(name, word.text)) tag.name = word.name;
  if (tag.name == kNames) return std::nullopt;
  const std::size_t rest = i;
  // A '<' before the '>' means that this was text: "<title <b>".
  while (i < text.size() && i - at < kMaxTag && text[i] != '>' && text[i] != '<') ++i;
  if (i >= text.size() || text[i] != '>') return std::nullopt;
  tag.attributes = text.substr(rest, i - rest);
  // After the name comes the end, white space or a slash; "<title:" is not our tag.
  if (!tag.attributes.empty() && !any_of(tag.attributes.substr(0, 1), {" ", "\t", "\n", "\r", "/"}))
    return std::nullopt;
  if (tag.attributes.ends_with('/')) {
    tag.empty = true;
    tag.attributes.remove_suffix(1);
  }
  tag.end = i + 1;
  return tag;
}

// Appends the character as UTF-8; U+FFFD for what is none.
static void put_character(std::string& out, std::uint32_t code) {
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xe0 | code >> 12);
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
    }
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

// Appends the character that an entity (without '&' and ';') means. False: it is no entity, and stays as
// text ("AT&T;").
static bool put_entity(std::string& out, std::string_view name) {
  static constexpr std::pair<std::string_view, char> kNamed[] = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, character] : kNamed)
    if (name == known) {
      out.push_back(character);
      return true;
    }
  if (name.size() < 2 || name[0] != '#') return false;
  const bool hex = name[1] == 'x' || name[1] == 'X';
  const std::string_view digits = name.substr(hex ? 2 : 1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  put_character(out, code);
  return true;
}

std::string plain(std::string_view raw) {
  raw = trim(raw);
  constexpr std::string_view kOpen = "<![CDATA[", kClose = "]]>";
  if (raw.starts_with(kOpen) && raw.ends_with(kClose) && raw.size() >= kOpen.size() + kClose.size())
    return std::string(trim(raw.substr(kOpen.size(), raw.size() - kOpen.size() - kClose.size())));
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '&') {
      // The longest entity we know is "&#x10ffff;"; a ';' further away belongs to the text.
      const std::size_t end = raw.substr(i, 12).find(';');
      if (end != std::string_view::npos && put_entity(out, raw.substr(i + 1, end - 1))) {
        i += end;
        continue;
      }
    }
    out.push_back(raw[i]);
  }
  return out;
}

std::string_view unmarked(std::string_view line) {
  line = trim(line);
  for (const std::string_view mark : {"- [ ] ", "- ", "* ", "\u2022 "})
    if (line.starts_with(mark)) return trim(line.substr(mark.size()));
  return line;
}

std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> list;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  // Set by a '-' after a number, until the next number.
  bool range = false;
  while (at < end && list.size() < 2000) {
    if (*at < '0' || *at > '9') {
      if (*at == '-' && !list.empty())
        range = true;
      else if (*at != ' ')
        range = false;
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto [after, error] = std::from_chars(at, end, number);
    at = after;
    if (error != std::errc()) continue;
    // A range that is absurdly long ("1-999999999") gives only its two ends.
    if (range && number > list.back() && number - list.back() < 1000)
      for (std::int64_t n = list.back() + 1; n < number; ++n) list.push_back(n);
    range = false;
    list.push_back(number);
  }
  return list;
}

std::string attribute(std::string_view attributes, std::string_view name) {
  const std::string lower = ascii_lower(attributes);
  const std::size_t at = lower.find(std::string(name) + "=");
  if (at == std::string::npos) return "";
  std::string_view rest = attributes.substr(at + name.size() + 1);
  if (!rest.empty() && (rest[0] == '"' || rest[0] == '\'')) {
    const std::size_t end = rest.find(rest[0], 1);
    return plain(rest.substr(1, end == std::string_view::npos ? end : end - 1));
  }
  return plain(rest.substr(0, rest.find_first_of(" \t\n")));
}

}  // namespace cairn::agent::tags
