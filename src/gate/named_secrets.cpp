#include "gate/named_secrets.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "gate/secret_value.h"
#include "gate/shape.h"
#include "gate/telling_names.h"

namespace cairn::gate {

namespace {

enum class Style {
  quoted,
  env,     // NAME=value
  plain,   // name: value, name = value
  paired,  // set("name", "value")
  loose,   // a blank, a line break or `is` between them
};

using Span = std::pair<std::size_t, std::size_t>;

constexpr std::size_t kMaxName = 64;
constexpr std::size_t kMaxValue = 1024;  // of a value: its beginning tells, and all of it goes
// What reading a name and its separator costs whatever they are, in characters.
constexpr std::size_t kReadingName = 4, kReadingValue = 12;

bool is_alnum(char c) {
  return is(Chars::alnum, c);
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
bool is_quote(char c) {
  return c == '"' || c == '\'' || c == '`';
}
bool ends_with_nocase(std::string_view text, std::string_view what) {
  return text.size() >= what.size() && lower(text.back()) == what.back() &&
         starts_with_nocase(text.substr(text.size() - what.size()), what);
}
template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// user.password, getToken(x), a.b.c(x), args[0], A::b: an expression of some language, not a value.
bool is_code(std::string_view value) {
  std::size_t at = 0, path = 0;
  const auto is_of_name = [](char c) { return is(Chars::word, c) || c == '$'; };
  while (at < value.size() && is_of_name(value[at])) ++at;
  if (at == 0) return value[0] == '(' || value[0] == '&' || value[0] == '*';
  if (is_digit(value[0])) return false;
  if (at == value.size()) return value[0] == '$';
  if (value[at] == '[' || value.substr(at, 2) == "::" || value.substr(at, 2) == "->") return true;
  for (path = at; path < value.size() && (is_of_name(value[path]) || value[path] == '.');) ++path;
  if (path < value.size() && value[path] == '(') return true;
  if (value[at] != '.' && value.substr(at, 2) != "?.") return false;
  const auto parts = split(value, '.');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part.size() <= 4 || is_words(part.substr(0, part.find_first_of("(?![;,")));
  });
}

// required|string|min:8: words in a row, as rules are written.
bool is_rules(std::string_view value) {
  if (value.find('|') == std::string_view::npos) return false;
  const auto parts = split(value, '|');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    const std::string_view word = part.substr(0, part.find(':'));
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return c == '_' || (is(Chars::lower, c) && !is_digit(c));
    });
  });
}

// A regular expression, rules of a form, a number of C, the address of an account in a chain, a user of
// Windows.
bool is_notation(std::string_view value) {
  static constexpr auto kParts =
      std::to_array<std::string_view>({"(?", "\\.", "[0-9", "[a-z", "[A-Z", "[^", "\\d", "\\w", "\\s"});
  static constexpr CharSet kSigns("([\\");  // one of them is in every part
  if (std::any_of(value.begin(), value.end(), [](char c) { return kSigns.has(c); }))
    for (const std::string_view part : kParts)
      if (value.find(part) != std::string_view::npos) return true;
  const auto only = [&](Chars chars) {
    return std::all_of(value.begin() + 2, value.end(), [&](char c) { return c == '-' || is(chars, c); });
  };
  return (value.starts_with("0x") && value.size() <= 42 && only(Chars::any_hex)) ||
         (value.starts_with("S-1-") && only(Chars::digit)) || is_rules(value);
}

// A session's id that is a UUID names it and opens nothing; one that does stands in a cookie.
bool is_plain_id(std::string_view name, std::string_view value) {
  if (value.size() != 36 || !ends_with_nocase(name, "id")) return false;
  Runs runs(value);
  static const Shape kUuid("@");
  return kUuid.match(value, 0, runs, false).has_value();
}

// What a shell calls pwd is where it stands.
bool is_directory(std::string_view name, std::string_view value) {
  return (value[0] == '/' || value[0] == '~') && ends_with_nocase(name, "pwd");
}

// `checksum/secret: ...`, and what stands within the name of a resource: arn:aws:...:secret:db-1a2b3c
bool is_part_of_an_id(std::string_view text, std::size_t name, Runs& runs) {
  if (name == 0 || (text[name - 1] != '/' && text[name - 1] != ':')) return false;
  return ends_with_nocase(text.substr(0, name), "checksum/") ||
         text.substr(runs.begin(Chars::visible, name)).starts_with("arn:");
}

// How many kinds of characters it has: small letters, capitals, digits; signs that people put into passwords
// count twice.
int mixture(std::string_view value) {
  static constexpr CharSet kSigns("!@#$%^?~*");
  bool small = false, capital = false, digit = false, sign = false;
  for (const char c : value) {
    digit = digit || is_digit(c);
    small = small || (is(Chars::lower, c) && !is_digit(c));
    capital = capital || (is(Chars::upper, c) && !is_digit(c));
    sign = sign || kSigns.has(c);
  }
  return small + capital + digit + 2 * sign;
}

// By its looks alone.
bool may_be_secret(Strength strength, Style style, std::string_view value) {
  const auto digits = std::count_if(value.begin(), value.end(), [](char c) { return is_digit(c); });
  if (style == Style::loose)
    return strength != Strength::weak && value.size() >= 12 && value[0] != '-' &&
           (mixture(value) >= (value.size() >= 16 ? 3 : 4) ||
            (is_alnum(value[0]) && (digits >= 2 || value.size() >= 20))) &&
           value.find_first_of("()[]{}<>") == std::string_view::npos &&
           value.find("**") == std::string_view::npos &&
           (digits > 0 || value.find('/') == std::string_view::npos) && is_random(value);
  if (style == Style::paired)
    return (strength == Strength::password || (strength == Strength::token && digits > 0)) &&
           is_random(value);
  switch (strength) {
    case Strength::password:
      if (style == Style::env) return digits < std::ssize(value) || digits >= 6;
      return is_password_like(value) && (style == Style::quoted || digits >= 3 || !is_words(value));
    case Strength::token:
      if (style == Style::env && value.size() >= 16 && digits > 0) return !is_words(value);
      return is_random(value) && (style != Style::plain || digits > 0 || value.size() >= 20);
    case Strength::weak: return value.size() >= 20 && digits > 0 && is_random(value);
    case Strength::none: break;
  }
  return false;
}

bool is_secret(Strength strength, Style style, std::string_view value) {
  if (value.size() < 4 || value.find(' ') != std::string_view::npos || !may_be_secret(strength, style, value))
    return false;
  if (is_placeholder(value) || is_path(value) || is_notation(value)) return false;
  if (value[0] == '$' && (is_alnum(value[1]) || value[1] == '_') && !is_random(value)) return false;
  return style == Style::quoted || style == Style::env || !is_code(value);
}

// Reads on from a name.
class Reader {
 public:
  Reader(std::string_view text, std::size_t begin, std::size_t end, Runs& runs)
      : text_(text), runs_(runs), begin_(begin), name_end_(end), at_(end) {}

  void find(Strength strength, std::vector<Place>& found);
  std::size_t judged() const { return judged_; }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool follows(std::string_view what) const {
    return lower(peek()) == what[0] && lower(peek(1)) == what[1] &&
           starts_with_nocase(text_.substr(at_), what);
  }
  void skip_blanks(std::size_t max) { at_ = std::min(runs_.end(Chars::blank, at_), at_ + max); }
  bool read_sign();
  bool read_separator();
  bool read_companion();
  bool read_default();
  void read_gap();
  bool read_scheme();
  Span read_value(Style& style);
  Span read_quoted();
  std::size_t whole_end(std::size_t end);
  std::size_t block_end(std::size_t end) const;
  bool is_env_name() const;
  bool is_of_its_name(std::string_view value) const;

  std::string_view text_;
  Runs& runs_;
  std::size_t begin_, name_end_;
  std::size_t at_;
  bool closed_quote_ = false;
  bool tight_ = false;  // no blank around the separator
  bool loose_ = false;
  bool paired_ = false;
  bool flag_ = false;     // --name
  bool element_ = false;  // <name>value</name>
  bool header_ = false;   // Authorization: SCHEME value
  bool block_ = false;    // of YAML: the value stands in the lines below
  std::size_t judged_ = kReadingName;
};

bool Reader::is_env_name() const {
  const std::string_view name = text_.substr(begin_, name_end_ - begin_);
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '.'; });
}

// Whether the name says something else of this value: an id, a directory.
bool Reader::is_of_its_name(std::string_view value) const {
  const std::string_view name = text_.substr(begin_, name_end_ - begin_);
  return is_plain_id(name, value) || is_directory(name, value);
}

// `"name": "DB_PASSWORD", "value": "..."`, and the same in YAML.
bool Reader::read_companion() {
  static constexpr CharSet kBetween(", \t\r\n-\"'");
  const std::size_t start = at_;
  for (int i = 0; i < 40 && kBetween.has(peek()); ++i) ++at_;
  if (follows("value")) {
    at_ += 5;
    if (is_quote(peek())) ++at_;
    skip_blanks(4);
    if (peek() == ':' || peek() == '=') {
      ++at_;
      return true;
    }
  }
  at_ = start;
  return false;
}

// variable "db_password" { default = "..." }
bool Reader::read_default() {
  if (!closed_quote_ || peek() != ' ' || peek(1) != '{') return false;
  const std::string_view body = text_.substr(at_, 200);
  const std::size_t word = body.substr(0, body.find('}')).find("default");
  if (word == std::string_view::npos) return false;
  at_ += word + 7;
  skip_blanks(40);
  return read_sign();
}

// = == === => := != !== += :
bool Reader::read_sign() {
  const char first = peek(), second = peek(1);
  constexpr std::string_view kWideColon = "\uff1a";
  if (first == kWideColon[0] && text_.substr(at_).starts_with(kWideColon))
    return at_ += kWideColon.size(), true;
  std::size_t length = first == '=' || first == ':' ? 1 : 0;
  if (second == '=' && (length > 0 || first == '!' || first == '+')) length = 2;
  if (first == '=' && second == '>') length = 2;
  if (length == 2 && second == '=' && first != ':' && first != '+' && peek(2) == '=') length = 3;
  at_ += length;
  return length > 0;
}

bool Reader::read_separator() {
  for (int i = 0; i < 3 && (is_quote(peek()) || peek() == ']' || peek() == ')' || peek() == '['); ++i) {
    closed_quote_ = closed_quote_ || is_quote(peek());
    ++at_;
  }
  const std::size_t after_name = at_;
  if (read_companion() || read_default()) return true;
  skip_blanks(40);
  tight_ = at_ == after_name;
  if (follows("::")) return false;
  if (read_sign()) return true;
  if (peek() == '(' && is_quote(peek(1))) return ++at_, true;
  if (peek() == '>' && begin_ > 0 && (text_[begin_ - 1] == '<' || text_[begin_ - 1] == ':'))
    return element_ = true, ++at_, true;
  if (peek() == '>' && closed_quote_ && tight_)
    return element_ = true, ++at_, true;                // <string name="key">...
  constexpr std::string_view kPair = "</key><string>";  // of a property list
  if (peek() == '<' && follows(kPair)) return element_ = true, at_ += kPair.size(), true;
  if (peek() == ',' && closed_quote_) {  // set("password", "...")
    ++at_;
    skip_blanks(4);
    paired_ = true;
    return is_quote(peek());
  }
  if (peek() == '|') return loose_ = true, ++at_, true;
  // --password hunter42, or prose.
  const bool flag = begin_ >= 2 && text_.substr(begin_ - 2, 2) == "--";
  flag_ = flag;
  loose_ = !flag;
  if ((at_ == after_name && !(flag && peek() == '\n')) || peek() == '\0') return false;
  static constexpr auto kWords = std::to_array<std::string_view>({"is ", "was ", "is: ", "to "});
  for (const std::string_view word : kWords)
    if (follows(word)) {
      at_ += word.size();
      break;
    }
  return true;
}

// Blanks, or a line break, between the separator and the value.
void Reader::read_gap() {
  const std::size_t start = at_;
  skip_blanks(40);
  std::size_t ahead = 0;
  if ((peek() == '|' || peek() == '>') && !loose_) {  // a block of YAML
    ahead = 1;
    block_ = true;
    if (peek(1) == '-' || peek(1) == '+') ahead = 2;
  }
  if (peek(ahead) == '\r') ++ahead;
  if (peek(ahead) == '\n') {
    loose_ = loose_ || (ahead == 0 && !flag_);
    at_ += ahead + 1;
    if (loose_ && peek() == '\n') ++at_;        // a paragraph of its own
    if (peek() == '+' || peek() == '-') ++at_;  // of a diff
    skip_blanks(40);
  }
  tight_ = tight_ && at_ == start;
}

bool Reader::read_scheme() {
  static constexpr auto kSchemes = std::to_array<std::string_view>(
      {"bearer ", "basic ", "token ", "digest ", "apikey ", "api-key ", "key ", "ssws ", "negotiate ",
       "oauth ", "bot ", "token=", "token token="});
  static constexpr CharSet kFirst("abdknostABDKNOST");
  if (!kFirst.has(peek()) && !header_) return false;
  for (const std::string_view scheme : kSchemes)
    if (follows(scheme)) {
      at_ += scheme.size();
      skip_blanks(8);
      return true;
    }
  if (!header_) return false;
  // Any other scheme is a word with a value behind it.
  const std::size_t word = std::min(runs_.end(Chars::letter, at_), at_ + 20);
  if (word == at_ || word >= text_.size() || text_[word] != ' ') return false;
  at_ = word;
  skip_blanks(8);
  return true;
}

// What is longer than any text that a person would write without a blank ends at its first one.
std::size_t Reader::whole_end(std::size_t end) {
  return end - at_ <= kMaxValue ? end
                                : std::min(end, std::max(runs_.end(Chars::visible, at_), at_ + kMaxValue));
}

// The lines of a block go on while they are as much drawn by lot as the first.
std::size_t Reader::block_end(std::size_t end) const {
  for (int lines = 0; lines < 64; ++lines) {
    std::size_t begin = end;
    while (begin < text_.size() && begin - end < 80 &&
           (is(Chars::blank, text_[begin]) || text_[begin] == '\n'))
      ++begin;
    std::size_t stop = begin;
    while (stop < text_.size() && stop - begin < kMaxValue && is(Chars::visible, text_[stop])) ++stop;
    const bool alone =
        begin > end + 1 && (stop == text_.size() || text_[stop] == '\n' || text_[stop] == '\r');
    if (!alone || stop - begin < 8 || is_words(text_.substr(begin, stop - begin)) ||
        text_.substr(begin, stop - begin).find(':') != std::string_view::npos)
      break;
    end = stop;
  }
  return end;
}

Span Reader::read_quoted() {
  const char quote = peek();
  const bool three = peek(1) == quote && peek(2) == quote;
  at_ += three ? 3 : 1;
  read_scheme();
  if (is_quote(peek()) && peek() != quote) ++at_;
  const Chars inside = quote == '"' ? Chars::in_double : quote == '\'' ? Chars::in_single : Chars::in_back;
  return {at_, whole_end(runs_.end(inside, at_))};
}

Span Reader::read_value(Style& style) {
  read_scheme();
  static constexpr CharSet kOfStrings("bfruL@$");
  if (is_quote(peek(1)) && kOfStrings.has(peek())) ++at_;
  if (is_quote(peek())) {
    style = loose_ ? Style::loose : paired_ ? Style::paired : Style::quoted;
    return read_quoted();
  }
  const bool env = tight_ && !loose_ && is_env_name();
  style = loose_ ? Style::loose : env ? Style::env : Style::plain;
  std::size_t end = runs_.end(env ? Chars::visible : Chars::plain_value, at_);
  static constexpr CharSet kBehind(",;)}]");
  while (end > at_ && kBehind.has(text_[end - 1])) --end;
  return {at_, end};
}

void Reader::find(Strength strength, std::vector<Place>& found) {
  if (!read_separator()) return;
  // ${NAME:-value}, and ${NAME:?what to say without it}
  if (begin_ >= 2 && text_.substr(begin_ - 2, 2) == "${") {
    if (peek() == '?' || peek() == '+') return;
    if (peek() == '-') ++at_;
  }
  read_gap();
  if (peek() == '&') ++at_;                       // token: &str = "..."
  if (peek() == '(' && is_quote(peek(1))) ++at_;  // token = ("..." "...")
  header_ = !loose_ && ends_with_nocase(text_.substr(begin_, name_end_ - begin_), "authorization");
  Style style = Style::plain;
  for (int tries = 0; tries < 2; ++tries) {
    const auto [begin, end] = read_value(style);
    const std::string_view value = text_.substr(begin, std::min(end - begin, kMaxValue));
    judged_ += kReadingValue + value.size();
    if (element_ && text_.substr(end, 2) != "</") return;
    if (is_secret(strength, style, value) && !is_of_its_name(value)) {
      found.push_back({begin, block_ ? block_end(end) : end, kind_name(strength)});
      at_ = found.back().end;
      return;
    }
    // password: str = "...": what stood there was a type.
    at_ = end;
    skip_blanks(4);
    if (peek() != '=' || peek(1) == '=' || style == Style::quoted) return;
    ++at_;
    tight_ = false;
    skip_blanks(4);
  }
}

constexpr auto kCookieAttributes = std::to_array<std::string_view>(
    {"path", "domain", "expires", "max-age", "samesite", "secure", "httponly"});

bool is_attribute(std::string_view name) {
  return one_of(ascii_lower(name), kCookieAttributes);
}

bool tells_of_a_session(std::string_view name) {
  const std::string lower = ascii_lower(name);
  return strength_of(name) != Strength::none || lower.find("sess") != std::string::npos ||
         lower.ends_with("id") || lower.find("auth") != std::string::npos;
}

bool is_secret_cookie(std::string_view name, std::string_view value) {
  value = value.substr(0, kMaxValue);
  return value.size() >= 8 && value.find(' ') == std::string_view::npos && !is_attribute(name) &&
         !is_placeholder(value) && (is_random(value) || (!is_words(value) && tells_of_a_session(name)));
}

constexpr CharSet kEndOfCookies("\r\n\"'`");

// `Cookie: a=b; c=d` and `Set-Cookie: a=b; Path=/`.
std::size_t find_cookies(std::string_view text, std::size_t at, std::vector<Place>& found) {
  const auto skip_quotes = [&] {
    while (at < text.size() && (text[at] == ' ' || is_quote(text[at]))) ++at;
  };
  skip_quotes();
  if (at >= text.size() || (text[at] != ':' && text[at] != '=') || text.substr(at, 2) == "==") return at;
  ++at;
  skip_quotes();
  const auto goes_on = [&](std::size_t i) {
    return i < text.size() && text[i] != ';' && !kEndOfCookies.has(text[i]);
  };
  for (std::size_t limit = at + 4 * kMaxValue; at < limit && goes_on(at);) {
    std::size_t end = at;
    while (end < limit && goes_on(end)) ++end;
    const std::string_view cookie = text.substr(at, end - at);
    const std::size_t equals = std::min(cookie.find('='), cookie.size());
    const std::string_view name = trim(cookie.substr(0, std::min(equals, kMaxName)));
    if (is_secret_cookie(name, cookie.substr(std::min(equals + 1, cookie.size())))) {
      while (goes_on(end) && is(Chars::visible, text[end])) ++end;
      found.push_back({at + equals + 1, end, "cookie"});
      limit = end + 4 * kMaxValue;
    }
    at = end;
    while (at < text.size() && (text[at] == ' ' || text[at] == ';')) ++at;
  }
  return at;
}

// "the api key is ...": a key of prose has its name in two words.
std::size_t with_word_before(std::string_view text, std::size_t begin, std::size_t end) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"api ", "access ", "secret ", "private ", "auth ", "encryption ", "signing "});
  if (begin == 0 || text[begin - 1] != ' ' || !starts_with_nocase(text.substr(begin, end - begin), "key") ||
      end - begin > 3)
    return begin;
  for (const std::string_view word : kWords)
    if (ends_with_nocase(text.substr(0, begin), word)) return begin - word.size();
  return begin;
}

}  // namespace

bool is_path(std::string_view value) {
  if (value.find('/') == std::string_view::npos) return false;
  if (value.find("://") != std::string_view::npos) return true;
  const auto parts = split(value, '/');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part.size() <= 3 || is_words(part) || part.find_first_of("*{}$<:") != std::string_view::npos;
  });
}

bool is_cookie_name(std::string_view name) {
  return ends_with_nocase(name, "cookie") || ends_with_nocase(name, "cookies");
}

NameRead find_named(std::string_view text, std::size_t at, Runs& runs, std::vector<Place>& found) {
  std::size_t begin = std::max(runs.begin(Chars::name, at), at - std::min(at, kMaxName));
  std::size_t end = std::min(runs.end(Chars::name, at), at + kMaxName);
  while (begin < at && !is(Chars::word, text[begin])) ++begin;
  while (end > at && !is(Chars::word, text[end - 1])) --end;
  begin = with_word_before(text, begin, end);
  const std::string_view name = text.substr(begin, end - begin);
  if (is_cookie_name(name)) {
    const std::size_t stop = find_cookies(text, end, found);
    return {stop, kReadingName + stop - end};
  }
  const Strength strength = strength_of(name);
  if (strength == Strength::none || is_part_of_an_id(text, begin, runs)) return {end, kReadingName};
  Reader reader(text, begin, end, runs);
  reader.find(strength, found);
  return {end, reader.judged()};
}

std::size_t find_behind(std::string_view text, std::size_t begin, std::size_t end, Runs& runs,
                        std::vector<Place>& found) {
  Reader reader(text, begin, end, runs);
  reader.find(Strength::password, found);
  return reader.judged();
}

bool is_secret_under(std::string_view name, std::string_view value) {
  const Strength strength = strength_of(name);
  return strength != Strength::none && is_secret(strength, Style::quoted, value.substr(0, kMaxValue)) &&
         !is_plain_id(name, value) && !is_directory(name, value);
}

}  // namespace cairn::gate
