#include <algorithm>
#include <array>

#include "gate/named_reader.h"

namespace cairn::gate {

bool NamedReader::is_env_name() const {
  const std::string_view name = this->name();
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '.'; });
}

// `"name": "DB_PASSWORD", "value": "..."`, and the same in YAML.
bool NamedReader::read_companion() {
  static constexpr CharSet kBetween(", \t\r\n-\"'");
  const std::size_t start = at_;
  for (int i = 0; i < 40 && kBetween.has(peek()); ++i) ++at_;
  if (follows("parametervalue")) at_ += 9;
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

// "github-token": { "github.com": "..." }
bool NamedReader::read_host() {
  skip_blanks(40);
  if (peek() != '"') return false;
  const std::size_t end = runs_.end(Chars::name, at_ + 1);
  const std::string_view host = text_.substr(at_ + 1, end - at_ - 1);
  if (host.find('.') == std::string_view::npos || text_.substr(end, 2) != "\":") return false;
  at_ = end + 2;
  return true;
}

// variable "db_password" { default = "..." }
bool NamedReader::read_default() {
  if (!closed_quote_ || peek() != ' ' || peek(1) != '{') return false;
  const std::string_view body = text_.substr(at_, 200);
  const std::size_t word = body.substr(0, body.find('}')).find("default");
  if (word == std::string_view::npos) return false;
  at_ += word + 7;
  skip_blanks(40);
  return read_sign();
}

// = == === => := != !== += :
bool NamedReader::read_sign() {
  const char first = peek(), second = peek(1);
  // A wide colon, and what other languages say for "is" without a blank.
  static constexpr auto kWide = std::to_array<std::string_view>({"\uff1a", "\u662f", "\u306f", "\u4e3a"});
  if (static_cast<unsigned char>(first) >= 0xe0)
    for (const std::string_view sign : kWide)
      if (text_.substr(at_).starts_with(sign)) return at_ += sign.size(), true;
  if (read_dash()) return true;
  std::size_t length = first == '=' || first == ':' ? 1 : 0;
  if (second == '=' && (length > 0 || first == '!' || first == '+')) length = 2;
  if (first == '=' && second == '>') length = 2;
  if (length == 2 && second == '=' && first != ':' && first != '+' && peek(2) == '=') length = 3;
  at_ += length;
  return length > 0;
}

// "the password - ...", with a dash of any length between blanks
bool NamedReader::read_dash() {
  static constexpr auto kDashes = std::to_array<std::string_view>({"- ", "-- ", "\u2013 ", "\u2014 "});
  if (tight_ || (peek() != '-' && peek() != '\xe2')) return false;
  for (const std::string_view dash : kDashes)
    if (text_.substr(at_).starts_with(dash)) return at_ += dash.size(), said_ = loose_ = true;
  return false;
}

// set("password", "..."), get("password").fill("..."), NAME || "..."
bool NamedReader::read_argument() {
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
bool NamedReader::read_element() {
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
bool NamedReader::read_prose(std::size_t after_name) {
  // -storepass x: an option of one dash has a long name.
  flag_ = begin_ >= 2 && text_[begin_ - 1] == '-' &&
          (text_[begin_ - 2] == '-' || (text_[begin_ - 2] == ' ' && name_end_ - begin_ > 6));
  loose_ = !flag_;
  // $ cat config/master.key, and what it printed
  const bool printed = peek() == '\n' && (flag_ || ends_with_nocase(name(), ".key"));
  if ((at_ == after_name && !printed) || peek() == '\0') return false;
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"is ",      "are ", "was ", "is: ",  "to ",   "ist ",   "ist: ",   "lautet ",
       "lautet: ", "<<< ", "est ", "est: ", "es ",   "c'est ", "\u00e9 ", "\u00e8 ",
       "\u00e4r ", "je ",  "on ",  "er ",   "from ", "with "});
  const char first = small(peek());
  for (const std::string_view word : kWords)
    if (word[0] == first && follows(word)) {
      at_ += word.size();
      said_ = true;
      break;
    }
  return true;
}

bool NamedReader::read_separator() {
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
    sign_ = true;
    // "password": { "value": "..." }
    const std::size_t blank = peek() == ' ' ? 1 : 0;
    if (peek(blank) != '{') return true;
    const std::size_t sign = std::exchange(at_, at_ + blank + 1);
    if (!read_companion() && !read_host()) at_ = sign;
    return true;
  }
  if (peek() == '(' && is_quote(peek(1))) return call_ = true, ++at_, true;
  if (peek() == '.' && follows("....")) {  // password........"..."
    while (peek() == '.') ++at_;
    skip_blanks(4);
    if (peek() == ':') ++at_;
    return true;
  }
  if (read_element() || read_argument()) return true;
  if (peek() == ',' && closed_quote_) return false;
  if (peek() == '|') return loose_ = true, ++at_, true;
  return read_prose(after_name);
}

// Blanks, or a line break, between the separator and the value.
void NamedReader::read_gap() {
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

}  // namespace cairn::gate
