#include "gate/named_secrets.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text.h"
#include "gate/cookies.h"
#include "gate/named_value.h"
#include "gate/secret_value.h"
#include "gate/telling_names.h"

namespace cairn::gate {

namespace {

using Span = std::pair<std::size_t, std::size_t>;

constexpr std::size_t kMaxName = 64;
constexpr std::size_t kMaxValue = 1024;  // of a value: its beginning tells, and all of it goes
// What reading a name and its separator costs whatever they are, in characters.
constexpr std::size_t kReadingName = 4, kReadingValue = 12;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// `checksum/secret: ...`, and what stands within the name of a resource: arn:aws:...:secret:db-1a2b3c
bool is_part_of_an_id(std::string_view text, std::size_t name, Runs& runs) {
  if (name == 0 || (text[name - 1] != '/' && text[name - 1] != ':')) return false;
  return ends_with_nocase(text.substr(0, name), "checksum/") ||
         text.substr(runs.begin(Chars::visible, name)).starts_with("arn:");
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
  std::string_view name() const { return text_.substr(begin_, name_end_ - begin_); }
  bool read_argument();
  bool read_element();
  bool read_prose(std::size_t after_name);
  void skip_wrap();
  bool read_second(std::size_t end, Style style);
  void find_new(Strength strength, std::vector<Place>& found);
  void find_next(Strength strength, std::vector<Place>& found);
  std::size_t behind_user(std::string_view value) const;
  // A value with a blank in it means nothing unless its quotes are closed.
  bool is_whole(std::size_t end, std::string_view value) const {
    return (end < text_.size() && is_quote(text_[end])) || value.find(' ') == std::string_view::npos;
  }

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
  bool said_ = false;     // the password is VALUE
  bool call_ = false;     // auth("name", "value")
  std::size_t judged_ = kReadingName;
};

bool Reader::is_env_name() const {
  const std::string_view name = this->name();
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '.'; });
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

// set("password", "..."), get("password").fill("..."), NAME || "..."
bool Reader::read_argument() {
  const std::size_t start = at_;
  if (follows("||") || follows("??")) {
    at_ += 2;
  } else if (peek() == ',' && closed_quote_) {
    ++at_;
  } else if (peek() == '.' && closed_quote_ && is(Chars::letter, peek(1))) {
    at_ = runs_.end(Chars::word, at_ + 1);
    if (peek() != '(') return at_ = start, false;
    ++at_;
  } else {
    return false;
  }
  skip_blanks(40);
  paired_ = is_quote(peek());
  if (!paired_) at_ = start;
  return paired_;
}

// <password>..., <string name="key">..., <key>password</key><string>..., <set name="password"><value>...
bool Reader::read_element() {
  if (peek() == '>' && begin_ > 0 && (text_[begin_ - 1] == '<' || text_[begin_ - 1] == ':'))
    return element_ = true, ++at_, true;
  constexpr std::string_view kPair = "</key><string>";  // of a property list
  if (peek() == '<' && follows(kPair)) return element_ = true, at_ += kPair.size(), true;
  if (!closed_quote_ || (peek() != '>' && tight_)) return false;
  const std::string_view head = text_.substr(at_, 80);
  static constexpr CharSet kEnds("<>\n");
  const std::size_t end = kEnds.first_in(head);
  if (end == std::string_view::npos || head[end] != '>') return false;
  constexpr std::string_view kValue = "<value>";
  const bool value = head.substr(end + 1).starts_with(kValue);
  if (!value && (end > 0 || !tight_)) return false;
  at_ += end + 1 + (value ? kValue.size() : 0);
  return element_ = true;
}

// --password hunter42, PASSWORD 'hunter42', the password is hunter42
bool Reader::read_prose(std::size_t after_name) {
  // -storepass x: an option of one dash has a long name.
  flag_ = begin_ >= 2 && text_[begin_ - 1] == '-' &&
          (text_[begin_ - 2] == '-' || (text_[begin_ - 2] == ' ' && name_end_ - begin_ > 6));
  loose_ = !flag_;
  if ((at_ == after_name && !(flag_ && peek() == '\n')) || peek() == '\0') return false;
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"is ", "are ", "was ", "is: ", "to ", "ist ", "ist: ", "lautet ", "lautet: ", "<<< "});
  const char first = lower(peek());
  for (const std::string_view word : kWords)
    if (word[0] == first && follows(word)) {
      at_ += word.size();
      said_ = true;
      break;
    }
  return true;
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
  if (read_sign()) {
    // "password": { "value": "..." }
    const std::size_t blank = peek() == ' ' ? 1 : 0;
    if (peek(blank) != '{') return true;
    const std::size_t sign = std::exchange(at_, at_ + blank + 1);
    if (!read_companion()) at_ = sign;
    return true;
  }
  if (peek() == '(' && is_quote(peek(1))) return call_ = true, ++at_, true;
  if (peek() == '.' && follows("....")) {  // password........"..."
    while (peek() == '.') ++at_;
    return true;
  }
  if (read_element() || read_argument()) return true;
  if (peek() == ',' && closed_quote_) return false;
  if (peek() == '|') return loose_ = true, ++at_, true;
  return read_prose(after_name);
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
  const char first = lower(peek());
  for (const std::string_view scheme : kSchemes)
    if (scheme[0] == first && follows(scheme)) {
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

// What a language puts around a string: []byte("..."), string(12) "...", N'...'
void Reader::skip_wrap() {
  static constexpr auto kWraps = std::to_array<std::string_view>(
      {"[]byte(", "string(", "bytes(", "some(", "secretstr(", "secretstring("});
  static constexpr CharSet kOfStrings("bfruLN@$");
  static constexpr CharSet kFirst("[sSbB");
  if (is_quote(peek(1)) && kOfStrings.has(peek())) ++at_;
  if (!kFirst.has(peek())) return;
  for (const std::string_view wrap : kWraps) {
    if (!follows(wrap)) continue;
    std::size_t end = at_ + wrap.size();
    const std::size_t number = runs_.end(Chars::digit, end);
    if (number > end && text_.substr(number, 2) == ") ") end = number + 2;
    if (end < text_.size() && is_quote(text_[end])) at_ = end;
    return;
  }
}

Span Reader::read_value(Style& style) {
  read_scheme();
  skip_wrap();
  if (is_quote(peek())) {
    style = loose_ ? Style::beside : paired_ ? Style::paired : Style::quoted;
    return read_quoted();
  }
  const bool env = tight_ && !loose_ && is_env_name();
  style = said_ ? Style::beside : loose_ ? Style::loose : env ? Style::env : Style::plain;
  std::size_t end = runs_.end(env ? Chars::visible : Chars::plain_value, at_);
  static constexpr CharSet kBehind(",;)}]");
  while (end > at_ && kBehind.has(text_[end - 1])) --end;
  return {at_, end};
}

// Whether another value stands where a quoted one ends that was none: auth=("name", "password")
bool Reader::read_second(std::size_t end, Style style) {
  if (!call_ || style != Style::quoted || end >= text_.size() || !is_quote(text_[end])) return false;
  at_ = end + 1;
  if (peek() != ',') return false;
  ++at_;
  skip_blanks(4);
  return paired_ = is_quote(peek());
}

// Where the password begins in `credentials: name:password`; 0: there is none.
std::size_t Reader::behind_user(std::string_view value) const {
  const bool credentials = ends_with_nocase(name(), "creds") || ends_with_nocase(name(), "credentials") ||
                           ends_with_nocase(name(), "auth");
  std::size_t colon = 0;
  while (credentials && colon < value.size() && (is(Chars::name, value[colon]) || value[colon] == '@'))
    ++colon;
  if (colon == 0 || colon >= value.size() || value[colon] != ':') return 0;
  return is_secret(Strength::password, Style::paired, value.substr(colon + 1)) ? colon + 1 : 0;
}

// "old" -> "new"
void Reader::find_new(Strength strength, std::vector<Place>& found) {
  constexpr std::string_view kArrow = "\" -> \"";
  if (!text_.substr(at_, kArrow.size()).starts_with(kArrow)) return;
  at_ += kArrow.size();
  const std::size_t end = whole_end(runs_.end(Chars::in_double, at_));
  if (is_secret(strength, Style::quoted, text_.substr(at_, std::min(end - at_, kMaxValue))))
    found.push_back({at_, end, kind_name(strength)});
}

// credentials("id", "secret"): what stands behind the first of them.
void Reader::find_next(Strength strength, std::vector<Place>& found) {
  for (int strings = 0; strings < 4 && is_quote(peek()) && peek(1) == ','; ++strings) {
    at_ += 2;
    skip_blanks(4);
    if (!is_quote(peek())) return;
    const auto [begin, end] = read_quoted();
    const std::string_view value = text_.substr(begin, std::min(end - begin, kMaxValue));
    if (is_secret(strength, Style::paired, value)) found.push_back({begin, end, kind_name(strength)});
    at_ = end;
  }
}

void Reader::find(Strength strength, std::vector<Place>& found) {
  if (!read_separator()) return;
  // ${NAME:-value}, and ${NAME:?what to say without it}
  if (begin_ >= 2 && text_.substr(begin_ - 2, 2) == "${") {
    if (peek() == '?' || peek() == '+') return;
    if (peek() == '-') ++at_;
  }
  if (peek() == '*' && peek(1) == '*') at_ += 2;  // **Password:** value
  read_gap();
  if (peek() == '&') ++at_;                                     // token: &str = "..."
  if (peek() == '(' && is_quote(peek(1))) call_ = true, ++at_;  // token = ("..." "...")
  header_ = !loose_ && ends_with_nocase(name(), "authorization");
  Style style = Style::plain;
  for (int tries = 0; tries < 2; ++tries) {
    const auto [begin, end] = read_value(style);
    const std::string_view value = text_.substr(begin, std::min(end - begin, kMaxValue));
    judged_ += kReadingValue + value.size();
    if (element_ && text_.substr(end, 2) != "</") return;
    // auth("..."): a password, unless it looks like a token.
    if (call_ && strength == Strength::token && is_secret(Strength::password, Style::paired, value))
      strength = Strength::password;
    if (is_secret(strength, style, value) && !is_named_otherwise(name(), value) && is_whole(end, value)) {
      found.push_back({begin, block_ ? block_end(end) : end, kind_name(strength)});
      at_ = found.back().end;
      return call_ ? find_next(strength, found) : find_new(strength, found);
    }
    if (const std::size_t password = strength == Strength::token ? behind_user(value) : 0; password > 0) {
      found.push_back({begin + password, end, kind_name(Strength::password)});
      return;
    }
    if (strength == Strength::token && read_second(end, style)) {
      strength = Strength::password;
      continue;
    }
    // password: str = "...": what stood there was a type.
    at_ = end;
    if (style == Style::quoted) return find_new(strength, found);
    skip_blanks(4);
    if (peek() != '=' || peek(1) == '=') return;
    ++at_;
    tight_ = false;
    skip_blanks(4);
  }
}

// "the api key is ...": a key of prose has its name in two words.
std::size_t with_word_before(std::string_view text, std::size_t begin, std::size_t end) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"api", "access", "secret", "private", "auth", "encryption", "signing"});
  if (begin == 0 || end - begin != 3 || text[begin - 1] != ' ' ||
      !starts_with_nocase(text.substr(begin, 3), "key"))
    return begin;
  const std::string_view before = text.substr(0, begin - 1);
  for (const std::string_view word : kWords)
    if (ends_with_nocase(before, word)) return begin - 1 - word.size();
  return begin;
}

// https://host/path?key=...
bool is_key_of_address(std::string_view text, std::size_t begin, std::size_t end) {
  return end - begin == 3 && begin > 0 && (text[begin - 1] == '?' || text[begin - 1] == '&') &&
         starts_with_nocase(text.substr(begin), "key=");
}

}  // namespace

NameRead find_named(std::string_view text, std::size_t at, Runs& runs, std::vector<Place>& found) {
  std::size_t begin = std::max(runs.begin(Chars::name, at), at - std::min(at, kMaxName));
  std::size_t end = std::min(runs.end(Chars::name, at), at + kMaxName);
  while (begin < at && !is(Chars::word, text[begin])) ++begin;
  while (end > at && !is(Chars::word, text[end - 1])) --end;
  begin = with_word_before(text, begin, end);
  const std::string_view name = text.substr(begin, end - begin);
  if (is_cookie_name(name)) {
    const std::size_t stop = find_cookies(text, end, found);
    return {stop, kReadingName + stop - end, stop};
  }
  const Strength strength = is_key_of_address(text, begin, end) ? Strength::weak : strength_of(name);
  if (strength == Strength::none || is_part_of_an_id(text, begin, runs)) return {end, kReadingName, end};
  Reader reader(text, begin, end, runs);
  reader.find(strength, found);
  return {end, reader.judged(), begin};
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
         !is_named_otherwise(name, value);
}

}  // namespace cairn::gate
