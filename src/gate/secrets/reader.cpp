#include <algorithm>

#include "base/text.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/shape.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxElement = 16384;
constexpr std::size_t kReadingValue = 12;  // the cost of reading any separator and value

// Reads what follows the name of a secret: the separator, in any notation, and the value. Used once.
//
// find() reads from left to right: read_separator() tries the notations and notes in the flags below what it
// saw; read_gap() skips blanks or a line break; find_value() reads the value and judges it. The flags decide
// the Style, which says how much the value itself must look like a secret.
class NamedReader {
 public:
  explicit NamedReader(const Hit& name) : hit_(name), text_(name.text), runs_(name.runs), at_(name.end) {}

  std::size_t judged() const { return judged_; }

  void find(Strength strength) {
    if (!read_separator()) return;
    // ${NAME:-value} has a value; ${NAME:?message} and ${NAME:+other} have none.
    if (hit_.begin >= 2 && text_.substr(hit_.begin - 2, 2) == "${") {
      if (peek() == '?' || peek() == '+') return;
      read("-");
    }
    read("**");  // **Password:** value
    read_gap();
    read("&");                                                    // token: &str = "..."
    if (peek() == '(' && is_quote(peek(1))) call_ = true, ++at_;  // token = ("..." "...")
    if (is_quote(peek()) && !loose_)                              // "...?token=" + "..."
      if (const std::size_t joined = over_gap(text_, at_); joined > at_) at_ = joined - 1;
    // The second try is for the value after a type: password: str = "..."
    for (int tries = 0; tries < 2; ++tries)
      if (!find_value(strength)) return;
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_blanks(std::size_t max) { at_ = std::min(runs_.end(Chars::blank, at_), at_ + max); }
  std::string_view name() const { return between(text_, hit_.begin, hit_.end); }
  void add(std::size_t begin, std::size_t end, Strength strength) {
    hit_.add(begin, end, kind_name(strength));
  }
  bool is_secret_in(std::size_t begin, std::size_t end, Strength strength, Style style) const {
    return is_secret(strength, style, text_.substr(begin, std::min(end - begin, kMaxValue)));
  }

  // Reads `what`, which is in lower case, if it follows in any letter case. In `what` a blank means any
  // number of blanks, a quote one quote or none, '=' also a colon.
  [[gnu::always_inline]] bool read(std::string_view what) {
    const char first = what[0];
    const bool may_follow = first == ' ' || first == '"' || first == '=' || (peek() | 0x20) == (first | 0x20);
    return may_follow && read_all(what);
  }
  bool read_all(std::string_view what) {
    const std::size_t start = at_;
    for (const char c : what) {
      const char next = peek();
      if (c == ' ')
        skip_blanks(40);
      else if (c == '"')
        at_ += is_quote(next) ? 1 : 0;
      else if (next == c || (is_upper(next) && (next | 0x20) == c) || (c == '=' && next == ':'))
        ++at_;
      else
        return at_ = start, false;
    }
    return true;
  }
  bool read(const WordList& words) {
    const std::size_t size = words.begins(text_.substr(at_));
    at_ += size;
    return size > 0;
  }

  // Reads and judges the value at at_. True: another value may follow; `strength` is then the strength of
  // that one.
  bool find_value(Strength& strength) {
    Style style = Style::plain;
    auto [begin, end] = read_value(style);
    end = ascii_end(begin, end);
    const std::string_view value = text_.substr(begin, std::min(end - begin, kMaxValue));
    judged_ += kReadingValue + value.size();
    if (element_ && text_.substr(end, 2) != "</" && text_.substr(end, 2) != "]]") return false;
    if (strength == Strength::password && is_certain(style)) style = Style::certain;
    // A value with a blank in it means nothing unless its quotes are closed.
    const bool closed = end < text_.size() && is_quote(text_[end]);
    const bool whole = closed || value.find(' ') == std::string_view::npos;
    at_ = end;
    if (is_secret(strength, style, value) && !is_named_otherwise(name(), value) && whole) {
      add(begin, at_ = block_ ? block_end(end) : end, strength);
      return call_ ? find_next(strength) : find_new(strength), false;
    }
    if (const std::size_t stop = closed ? joined_end(strength, begin, end) : end; stop > end)
      return add(begin, stop, strength), false;
    if (const std::size_t password = strength == Strength::token ? after_user(value) : 0; password > 0)
      return add(begin + password, end, Strength::password), false;
    if (strength == Strength::token && call_ && closed && peek(1) == ',') {  // auth=("name", "password")
      at_ += 2;
      skip_blanks(4);
      strength = Strength::password;
      return paired_ = is_quote(peek());
    }
    if (style == Style::quoted) return find_new(strength), false;
    // password: str = "...": the word before it was a type.
    skip_blanks(4);
    if (peek() != '=' || peek(1) == '=') return false;
    ++at_;
    tight_ = false;
    skip_blanks(4);
    return true;
  }

  std::pair<std::size_t, std::size_t> read_value(Style& style) {
    read_scheme();
    skip_wrap();
    if (is_quote(peek())) {
      style = loose_ ? Style::beside : paired_ ? Style::paired : Style::quoted;
      return read_quoted();
    }
    if (element_) {
      const bool data = read("<![cdata[");
      const std::string_view rest = text_.substr(at_, kMaxElement);
      return {at_, at_ + std::min(data ? rest.find("]]>") : rest.find_first_of("< \t\r\n"), rest.size())};
    }
    const bool env = loose_ ? is_directive() : tight_ && is_env_name();
    style = env ? Style::env : said_ ? Style::beside : loose_ ? Style::loose : Style::plain;
    std::size_t end = runs_.end(env ? Chars::visible : Chars::plain_value, at_);
    static constexpr CharSet kTrailing(",;)}]");
    while (end > at_ && kTrailing.has(text_[end - 1])) --end;
    return {at_, loose_ ? end : query_end(end)};
  }

  // Skips the scheme before the value: Bearer, Basic and so on. After Authorization any other word with a
  // value after it is a scheme, too.
  void read_scheme() {
    static const WordList kSchemes("schemes");
    if (!read(kSchemes)) {
      if (loose_ || !ends_with_nocase(name(), "authorization")) return;
      const std::size_t word = std::min(runs_.end(Chars::letter, at_), at_ + 20);
      if (word == at_ || word >= text_.size() || text_[word] != ' ') return;
      at_ = word;
    }
    skip_blanks(8);
  }

  std::pair<std::size_t, std::size_t> read_quoted() {
    const char quote = peek();
    ++at_;
    read_scheme();
    const Chars inside = quote == '"' ? Chars::in_double : quote == '\'' ? Chars::in_single : Chars::in_back;
    std::size_t end = runs_.end(inside, at_);
    // A quote that was escaped within it.
    if (end + 1 < text_.size() && text_[end] == quote && is(Chars::alnum, text_[end + 1])) {
      const std::size_t next = run_end(Chars::visible, text_.substr(0, end + 66), end + 1);
      if (next < text_.size() && text_[next] == quote) end = next;
    }
    return {at_, end};
  }

  // What a language puts around a string: N'...', string(12) "...", []byte("..."), new String("...")
  void skip_wrap() {
    static constexpr CharSet kOfStrings("bfruLN@$");
    if (is_quote(peek(1)) && kOfStrings.has(peek())) ++at_;
    if (is_quote(peek()) || !(is(Chars::letter, peek()) || peek() == '[')) return;
    const std::size_t start = at_;
    if (!read("[]")) read("new ");
    static const WordList kTypes("types-of-strings");
    const std::size_t word = at_;
    at_ = std::min(runs_.end(Chars::name, at_), at_ + 40);
    const bool is_type = kTypes.has(between(text_, word, at_));
    const bool called = read("(");
    const std::size_t number = at_;
    at_ = runs_.end(Chars::digit, at_);
    const bool counted = at_ > number && read(") ");
    if (called && is_quote(peek()) && (counted || !loose_))
      paired_ = !is_type;
    else
      at_ = start;
  }

  // After '&' comes another name=value; a piece without '=' belongs to the value before it.
  std::size_t query_end(std::size_t end) const {
    if (end + 1 >= text_.size() || text_[end] != '&' || end == at_ || !is(Chars::alnum, text_[end + 1]))
      return end;
    const std::size_t next = run_end(Chars::plain_value, text_.substr(0, end + 66), end + 1);
    return between(text_, end + 1, next).find('=') == std::string_view::npos ? next : end;
  }

  // A YAML block continues while its lines have 8 characters or more, are not words and contain no colon.
  std::size_t block_end(std::size_t end) const {
    static constexpr CharSet kIndent(" \t\n");
    for (int lines = 0; lines < 64; ++lines) {
      const std::size_t begin = skip(text_, end, 80, kIndent);
      const std::size_t stop = run_end(Chars::visible, text_.substr(0, begin + kMaxValue), begin);
      const std::string_view line = between(text_, begin, stop);
      if (line.size() < 8 || is_words(line) || line.find(':') != std::string_view::npos) break;
      end = stop;
    }
    return end;
  }

  // The end of the ASCII characters at `begin`; `begin` when there are fewer than 6. Text of another language
  // may follow a value without a blank.
  std::size_t ascii_end(std::size_t begin, std::size_t end) const {
    const std::size_t limit = std::min(end, begin + kMaxValue);
    const std::size_t at = skip(text_, begin, limit - begin, [](char c) { return (c & 0x80) == 0; });
    return at == limit ? end : at - begin >= 6 ? at : begin;
  }

  // The end of the string that is joined with the one in text[begin, end), when both together are a secret.
  std::size_t joined_end(Strength strength, std::size_t begin, std::size_t end) const {
    const std::size_t next = over_gap(text_, end);
    if (next == end || !is_quote(text_[next - 1])) return end;
    const std::size_t stop = run_end(Chars::visible, text_.substr(0, next + kMaxValue), next);
    const std::string whole =
        std::string(text_.substr(begin, std::min(end - begin, kMaxValue))).append(text_, next, stop - next);
    return is_secret(strength, Style::quoted, whole) ? stop : end;
  }

  // Where the password begins in `credentials: name:password`; 0: there is none.
  std::size_t after_user(std::string_view value) const {
    static const WordList kCredentials("credentials");
    const std::size_t colon = run_end(Chars::name, value, 0);
    if (colon == 0 || colon >= value.size() || value[colon] != ':' || !kCredentials.ends(name())) return 0;
    return is_secret(Strength::password, Style::paired, value.substr(colon + 1)) ? colon + 1 : 0;
  }

  // "old" -> "new"
  void find_new(Strength strength) {
    if (!read("\"") || !read(" -> ") || !is_quote(peek())) return;
    const auto [begin, end] = read_quoted();
    if (is_secret_in(begin, end, strength, Style::quoted)) add(begin, end, strength);
  }

  // credentials("id", "secret"): the strings after the first one.
  void find_next(Strength strength) {
    for (int strings = 0; strings < 4 && is_quote(peek()) && peek(1) == ','; ++strings) {
      at_ += 2;
      skip_blanks(4);
      if (!is_quote(peek())) return;
      const auto [begin, end] = read_quoted();
      if (is_secret_in(begin, end, strength, Style::paired)) add(begin, end, strength);
      at_ = end;
    }
  }

  bool is_env_name() const {
    const std::string_view all = name();
    return std::none_of(all.begin(), all.end(), [](char c) { return is_lower(c) || c == '-' || c == '.'; });
  }

  bool begins_its_line() const {
    static constexpr CharSet kBefore(" \t+-\"'");
    const std::size_t line = skip_back(text_, hit_.begin, 40, kBefore);
    return line == 0 || text_[line - 1] == '\n';
  }

  // Whether only a password can follow the name: requirepass ... Without a sign between them, name and value
  // must be alone in their line.
  bool is_directive() const {
    static const WordList kDirectives("directives");
    if (!kDirectives.ends(name()) || !begins_its_line()) return false;
    const std::size_t end = run_end(Chars::visible, text_.substr(0, at_ + kMaxName), at_);
    return sign_ || (peek() != '%' && end - at_ >= 6 && (end == text_.size() || text_[end] == '\n'));
  }

  // Whether the notation alone says that the value is a password, whatever it looks like.
  bool is_certain(Style style) const {
    static const WordList kLabels("labels"), kForms("forms");
    const std::string_view name = this->name();
    if (element_) return true;                                         // <password>
    if (style == Style::beside && is_quote(text_[at_ - 1]) && !said_)  // SQL
      return name == "PASSWORD" || ends_with_nocase(text_.substr(0, hit_.begin), "with ");
    if (flag_) return ends_with_nocase(name, "pass");  // -storepass
    if (loose_ && name == "password") {                // .netrc
      const std::size_t from = hit_.begin - std::min<std::size_t>(hit_.begin, 80);
      return between(text_, from, hit_.begin).find("machine ") != std::string_view::npos;
    }
    if (is_directive()) return true;
    if (is_env_name() && name.find('_') != std::string_view::npos)
      return !kLabels.is_in(name) && (paired_ || style == Style::env || (sign_ && begins_its_line()));
    // spring.datasource.password=...; login.password=... is what a form says
    const std::size_t dot = name.rfind('.');
    return dot != std::string_view::npos && tight_ && sign_ && style == Style::plain && begins_its_line() &&
           kForms.begins(name.substr(name.substr(0, dot).rfind('.') + 1)) == 0;
  }

  bool read_separator() {
    static constexpr CharSet kClosing("\"'`])[");
    const std::size_t closing = skip(text_, at_, 3, kClosing);
    closed_quote_ = std::any_of(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                text_.begin() + static_cast<std::ptrdiff_t>(closing), is_quote);
    const std::size_t after_name = at_ = closing;
    if (read_companion() || read_default()) return true;
    skip_blanks(40);
    tight_ = at_ == after_name;
    if (peek() == ':' && peek(1) == ':') return false;
    if (read_sign()) {
      sign_ = true;
      // "password": { "value": "..." }
      if (const std::size_t sign = at_; read(" {") && !read_companion() && !read_host()) at_ = sign;
      return true;
    }
    if (peek() == '(' && is_quote(peek(1))) return call_ = true, ++at_, true;
    if (read("....")) {  // password........: ...
      while (read(".")) {
      }
      read(" =");
      return true;
    }
    if (read_element() || read_argument()) return true;
    if (peek() == '|') return loose_ = true, ++at_, true;
    return read_without_sign(after_name);
  }

  // = == === => := != += : and a wide colon, and what other languages say for "is" without a blank.
  bool read_sign() {
    static const WordList kWide("wide-signs");
    if (read(kWide)) return true;
    const char first = peek();
    const bool begins = first == '=' || first == ':' || ((first == '!' || first == '+') && peek(1) == '=');
    std::size_t length = begins ? 1 : 0;
    while (length > 0 && length < 3 && peek(length) == '=') ++length;
    if (first == '=' && peek(1) == '>') length = 2;
    at_ += length;
    return length > 0;
  }

  // `"name": "DB_PASSWORD", "value": "..."`, and the same in YAML.
  bool read_companion() {
    static constexpr CharSet kBetween(", \t\r\n-\"'");
    const std::size_t start = at_;
    at_ = skip(text_, at_, 40, kBetween);
    if (read("value\" =") || read("parametervalue\" =")) return true;
    at_ = start;
    return false;
  }

  // "github-token": { "github.com": "..." }
  bool read_host() {
    read(" \"");
    const std::size_t start = at_;
    at_ = runs_.end(Chars::name, at_);
    return between(text_, start, at_).find('.') != std::string_view::npos && read("\"=");
  }

  // variable "db_password" { default = "..." }
  bool read_default() {
    if (!closed_quote_ || peek() != ' ' || peek(1) != '{') return false;
    const std::string_view body = text_.substr(at_, 200);
    const std::size_t word = body.substr(0, body.find('}')).find("default");
    if (word == std::string_view::npos) return false;
    at_ += word;
    return read("default =");
  }

  // set("password", "..."), get("password").fill("..."), NAME || "..."
  bool read_argument() {
    const std::size_t start = at_;
    if (closed_quote_ && read("."))
      at_ = runs_.end(Chars::word, at_), paired_ = read("(");
    else
      paired_ = read("||") || read("??") || (closed_quote_ && read(","));
    skip_blanks(40);
    paired_ = paired_ && is_quote(peek());
    if (!paired_) at_ = start;
    return paired_;
  }

  // <password>..., <string name="key">..., <key>password</key><string>..., <set name="password"><value>...
  bool read_element() {
    if (hit_.begin > 0 && (text_[hit_.begin - 1] == '<' || text_[hit_.begin - 1] == ':') && read(">"))
      return element_ = true;
    if (read("</key><string>")) return element_ = true;
    if (!closed_quote_ || (peek() != '>' && tight_)) return false;
    const std::size_t start = at_;
    const std::string_view head = text_.substr(at_, 80);
    at_ += std::min(head.find_first_of("<>\n"), head.size());
    const bool at_once = at_ == start && tight_;
    element_ = read(">") && (read("<value>") || at_once);
    if (!element_) at_ = start;
    return element_;
  }

  // --password hunter42, PASSWORD 'hunter42', the password is hunter42
  bool read_without_sign(std::size_t after_name) {
    static const WordList kIs("is");
    const std::size_t begin = hit_.begin;
    // -storepass x: an option of one dash has a long name.
    flag_ = begin >= 2 && text_[begin - 1] == '-' &&
            (text_[begin - 2] == '-' || (text_[begin - 2] == ' ' && hit_.end - begin > 6));
    loose_ = !flag_;
    // $ cat config/master.key, and what it printed
    const bool printed = peek() == '\n' && (flag_ || ends_with_nocase(name(), ".key"));
    if ((at_ == after_name && !printed) || peek() == '\0') return false;
    said_ = read(kIs);
    return true;
  }

  // Blanks, or a line break, between the separator and the value.
  void read_gap() {
    const std::size_t start = at_;
    skip_blanks(40);
    std::size_t ahead = 0;
    if ((peek() == '|' || peek() == '>') && !loose_) {  // a block of YAML
      block_ = true;
      ahead = peek(1) == '-' || peek(1) == '+' ? 2 : 1;
    }
    if (peek(ahead) == '\r') ++ahead;
    if (peek(ahead) == '\n') {
      loose_ = loose_ || (ahead == 0 && !flag_);
      at_ += ahead + 1;
      if (loose_ && peek() == '\n') ++at_;        // a paragraph of its own
      if (peek() == '+' || peek() == '-') ++at_;  // of a patch
      skip_blanks(40);
    }
    tight_ = tight_ && at_ == start;
  }

  const Hit& hit_;  // the name
  std::string_view text_;
  Runs& runs_;
  std::size_t at_;
  bool closed_quote_ = false;  // a quote closes the name
  bool tight_ = false;         // no blank around the separator
  bool loose_ = false;         // no sign between name and value: a blank, a line break, a column
  bool paired_ = false;        // the value is a quoted argument: set("name", "value")
  bool flag_ = false;          // --name
  bool element_ = false;       // <name>value</name>
  bool block_ = false;         // of YAML: the value is in the lines below
  bool said_ = false;          // the password is VALUE
  bool call_ = false;          // auth("name", "value")
  bool sign_ = false;          // = or :
  std::size_t judged_ = kReadingName;
};

}  // namespace

std::size_t find_value_of(const Hit& name, Strength strength) {
  NamedReader reader(name);
  reader.find(strength);
  return reader.judged();
}

}  // namespace cairn::gate
