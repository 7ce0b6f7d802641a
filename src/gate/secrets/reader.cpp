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
class NamedReader {
 public:
  explicit NamedReader(const Hit& name)
      : text_(name.text),
        runs_(name.runs),
        found_(name.found),
        begin_(name.begin),
        name_end_(name.end),
        at_(name.end) {}

  std::size_t judged() const { return judged_; }

  void find(Strength strength) {
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
    if (is_quote(peek()) && !loose_)                              // "...?token=" + "..."
      if (const std::size_t joined = over_join(text_, at_); joined > at_) at_ = joined - 1;
    header_ = !loose_ && ends_with_nocase(name(), "authorization");
    for (int tries = 0; tries < 2; ++tries)
      if (!find_value(strength)) return;
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool follows(std::string_view what) const {
    return (peek() | 0x20) == (what[0] | 0x20) && starts_with_nocase(text_.substr(at_), what);
  }
  bool take(const WordList& words) {
    const std::size_t size = words.begins(text_.substr(at_));
    at_ += size;
    return size > 0;
  }
  void skip_blanks(std::size_t max) { at_ = std::min(runs_.end(Chars::blank, at_), at_ + max); }
  std::string_view name() const { return text_.substr(begin_, name_end_ - begin_); }
  void add(std::size_t begin, std::size_t end, Strength strength) {
    found_.push_back({begin, end, kind_name(strength)});
  }

  // The value at at_. True when another one may follow, whose strength is changed if need be.
  bool find_value(Strength& strength) {
    Style style = Style::plain;
    auto [begin, end] = read_value(style);
    end = ascii_end(begin, end);
    const std::string_view value = text_.substr(begin, std::min(end - begin, kMaxValue));
    judged_ += kReadingValue + value.size();
    if (element_ && text_.substr(end, 2) != "</" && text_.substr(end, 2) != "]]") return false;
    if (strength == Strength::password && is_certain(style, end)) style = Style::certain;
    // A value with a blank in it means nothing unless its quotes are closed.
    const bool closed = end < text_.size() && is_quote(text_[end]);
    const bool whole = closed || value.find(' ') == std::string_view::npos;
    if (is_secret(strength, style, value) && !is_named_otherwise(name(), value) && whole) {
      add(begin, at_ = block_ ? block_end(end) : end, strength);
      return call_ ? find_next(strength) : find_new(strength), false;
    }
    if (const std::size_t stop = joined_end(strength, begin, end); stop > end)
      return add(begin, stop, strength), false;
    if (const std::size_t password = strength == Strength::token ? behind_user(value) : 0; password > 0)
      return add(begin + password, end, Strength::password), false;
    at_ = end;
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
    if (!loose_) skip_call();
    if (is_quote(peek())) {
      style = loose_ ? Style::beside : paired_ ? Style::paired : Style::quoted;
      return read_quoted();
    }
    if (element_) {
      const std::size_t end = element_end();
      return {at_, end};
    }
    const bool env = loose_ ? is_directive() : tight_ && is_env_name();
    style = env ? Style::env : said_ ? Style::beside : loose_ ? Style::loose : Style::plain;
    std::size_t end = runs_.end(env ? Chars::visible : Chars::plain_value, at_);
    static constexpr CharSet kBehind(",;)}]");
    while (end > at_ && kBehind.has(text_[end - 1])) --end;
    return {at_, loose_ ? end : query_end(end)};
  }

  // Bearer, Basic and so on. Behind Authorization any other scheme is a word with a value behind it.
  void read_scheme() {
    static const WordList kSchemes("schemes");
    if (!take(kSchemes)) {
      const std::size_t word = header_ ? std::min(runs_.end(Chars::letter, at_), at_ + 20) : at_;
      if (word == at_ || word >= text_.size() || text_[word] != ' ') return;
      at_ = word;
    }
    skip_blanks(8);
  }

  std::pair<std::size_t, std::size_t> read_quoted() {
    const char quote = peek();
    at_ += peek(1) == quote && peek(2) == quote ? 3 : 1;
    read_scheme();
    if (const std::size_t joined = is_quote(peek()) ? over_join(text_, at_) : at_; joined > at_)
      at_ = joined;  // "Bearer " + "..."
    else if (is_quote(peek()) && peek() != quote)
      ++at_;
    const Chars inside = quote == '"' ? Chars::in_double : quote == '\'' ? Chars::in_single : Chars::in_back;
    std::size_t end = whole_end(runs_.end(inside, at_));
    // A quote that was escaped within it.
    if (end + 1 < text_.size() && text_[end] == quote && is(Chars::alnum, text_[end + 1])) {
      const std::size_t next = run_end(Chars::visible, text_.substr(0, end + 66), end + 1);
      if (next < text_.size() && text_[next] == quote) end = next;
    }
    return {at_, end};
  }

  // What is longer than any text that a person would write without a blank ends at its first one.
  std::size_t whole_end(std::size_t end) {
    return end - at_ <= kMaxValue ? end
                                  : std::min(end, std::max(runs_.end(Chars::visible, at_), at_ + kMaxValue));
  }

  // What a language puts around a string: []byte("..."), string(12) "...", N'...'
  void skip_wrap() {
    static const WordList kWraps("wraps");
    static constexpr CharSet kOfStrings("bfruLN@$");
    if (is_quote(peek(1)) && kOfStrings.has(peek())) ++at_;
    const std::size_t start = at_;
    if (!take(kWraps)) return;
    const std::size_t number = runs_.end(Chars::digit, at_);
    if (number > at_ && text_.substr(number, 2) == ") ") at_ = number + 2;
    if (!is_quote(peek())) at_ = start;
  }

  // Any other call around a string: new String("...")
  void skip_call() {
    if (!is(Chars::letter, peek())) return;
    const std::size_t word = follows("new ") ? at_ + 4 : at_;
    const std::size_t end = std::min(runs_.end(Chars::name, word), word + 40);
    if (end + 1 >= text_.size() || text_[end] != '(' || !is_quote(text_[end + 1])) return;
    at_ = end + 1;
    paired_ = true;
  }

  // The end of the text in an XML element, which may contain characters that end a value elsewhere.
  std::size_t element_end() {
    constexpr std::string_view kCharacterData = "<![CDATA[";
    const bool data = text_.substr(at_).starts_with(kCharacterData);
    if (data) at_ += kCharacterData.size();
    const std::string_view rest = text_.substr(at_, kMaxElement);
    return at_ + std::min(data ? rest.find("]]>") : rest.find_first_of("< \t\r\n"), rest.size());
  }

  // Behind an '&' comes another name=value; what is none belongs to the value before it.
  std::size_t query_end(std::size_t end) const {
    if (end + 1 >= text_.size() || text_[end] != '&' || end == at_ || !is(Chars::alnum, text_[end + 1]))
      return end;
    const std::size_t next = run_end(Chars::plain_value, text_.substr(0, end + 66), end + 1);
    return text_.substr(end + 1, next - end - 1).find('=') == std::string_view::npos ? next : end;
  }

  // A YAML block continues while its lines look as random as the first.
  std::size_t block_end(std::size_t end) const {
    for (int lines = 0; lines < 64; ++lines) {
      std::size_t begin = end;
      while (begin < text_.size() && begin - end < 80 &&
             (is(Chars::blank, text_[begin]) || text_[begin] == '\n'))
        ++begin;
      const std::size_t stop = run_end(Chars::visible, text_.substr(0, begin + kMaxValue), begin);
      const std::string_view line = text_.substr(begin, stop - begin);
      if (line.size() < 8 || is_words(line) || line.find(':') != std::string_view::npos) break;
      end = stop;
    }
    return end;
  }

  // The end of the ASCII at `begin`, when there is enough of it for a password; `begin` itself when there is
  // not: a sentence of another language goes on without a blank.
  std::size_t ascii_end(std::size_t begin, std::size_t end) const {
    const std::size_t limit = std::min(end, begin + kMaxValue);
    std::size_t at = begin;
    while (at < limit && static_cast<unsigned char>(text_[at]) < 0x80) ++at;
    return at == limit ? end : at - begin >= 6 ? at : begin;
  }

  // The end of the string that is joined with the one in text[begin, end), when both together are a secret.
  std::size_t joined_end(Strength strength, std::size_t begin, std::size_t end) const {
    if (end >= text_.size() || !is_quote(text_[end])) return end;
    const std::size_t next = std::max(over_join(text_, end), over_break(text_, end));
    if (next == end || !is_quote(text_[next - 1])) return end;
    const std::size_t stop = run_end(Chars::visible, text_.substr(0, next + kMaxValue), next);
    if (stop >= text_.size() || !is_quote(text_[stop])) return end;
    const std::string whole =
        std::string(text_.substr(begin, std::min(end - begin, kMaxValue))).append(text_, next, stop - next);
    return is_secret(strength, Style::quoted, whole) ? stop : end;
  }

  // Where the password begins in `credentials: name:password`; 0: there is none.
  std::size_t behind_user(std::string_view value) const {
    static const WordList kCredentials("credentials");
    if (!kCredentials.ends(name())) return 0;
    std::size_t colon = 0;
    while (colon < value.size() && (is(Chars::name, value[colon]) || value[colon] == '@')) ++colon;
    if (colon == 0 || colon >= value.size() || value[colon] != ':') return 0;
    return is_secret(Strength::password, Style::paired, value.substr(colon + 1)) ? colon + 1 : 0;
  }

  // "old" -> "new"
  void find_new(Strength strength) {
    constexpr std::string_view kArrow = "\" -> \"";
    if (!text_.substr(at_).starts_with(kArrow)) return;
    at_ += kArrow.size();
    const std::size_t end = whole_end(runs_.end(Chars::in_double, at_));
    if (is_secret(strength, Style::quoted, text_.substr(at_, std::min(end - at_, kMaxValue))))
      add(at_, end, strength);
  }

  // credentials("id", "secret"): what stands behind the first of them.
  void find_next(Strength strength) {
    for (int strings = 0; strings < 4 && is_quote(peek()) && peek(1) == ','; ++strings) {
      at_ += 2;
      skip_blanks(4);
      if (!is_quote(peek())) return;
      const auto [begin, end] = read_quoted();
      if (is_secret(strength, Style::paired, text_.substr(begin, std::min(end - begin, kMaxValue))))
        add(begin, end, strength);
      at_ = end;
    }
  }

  bool is_env_name() const {
    const std::string_view all = name();
    return std::none_of(all.begin(), all.end(),
                        [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '.'; });
  }

  bool begins_its_line() const {
    static constexpr CharSet kBefore(" \t+-\"'");
    std::size_t line = begin_;
    while (line > 0 && begin_ - line < 40 && kBefore.has(text_[line - 1])) --line;
    return line == 0 || text_[line - 1] == '\n';
  }

  // requirepass ...: alone in its line, and such a name that what follows is nothing else.
  bool is_directive() const {
    static const WordList kDirectives("directives");
    if (!kDirectives.ends(name()) || peek() == '%' || peek() == '<' || !begins_its_line()) return false;
    const std::size_t end = run_end(Chars::visible, text_.substr(0, at_ + kMaxName), at_);
    return end - at_ >= 6 && (end == text_.size() || text_[end] == '\n');
  }

  // Whether the notation alone says that the value is a password, whatever it looks like.
  bool is_certain(Style style, std::size_t end) const {
    static const WordList kLabels("labels"), kForms("forms");
    const std::string_view name = this->name(), before = text_.substr(0, begin_);
    if (element_) return true;                                         // <password>
    if (style == Style::beside && is_quote(text_[at_ - 1]) && !said_)  // SQL
      return name == "PASSWORD" || ends_with_nocase(before, "with ");
    if (flag_) return text_[begin_ - 2] == ' ' && ends_with_nocase(name, "pass");  // -storepass
    if (loose_)                                                                    // .netrc
      return name == "password" &&
             before.substr(before.size() - std::min<std::size_t>(before.size(), 80)).find("machine ") !=
                 std::string_view::npos;
    if (is_directive() || (sign_ && ends_with_nocase(name, "psk") && begins_its_line())) return true;
    if (is_env_name() && name.find('_') != std::string_view::npos)
      return !kLabels.is_in(name) && (paired_ || style == Style::env || (sign_ && begins_its_line()));
    // spring.datasource.password=...; login.password=... is what a form says
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || !tight_ || !sign_ || style != Style::plain) return false;
    const std::string_view owner = name.substr(name.substr(0, dot).rfind('.') + 1);
    return kForms.begins(owner) == 0 && kForms.begins(name) == 0 &&
           (begin_ == 0 || text_[begin_ - 1] == '\n') &&
           (end == text_.size() || text_[end] == '\n' || text_[end] == '\r');
  }

  bool read_separator() {
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
    if (peek() == '|') return loose_ = true, ++at_, true;
    return read_prose(after_name);
  }

  // = == === => := != += : and a wide colon, and what other languages say for "is" without a blank.
  bool read_sign() {
    static const WordList kWide("wide-signs");
    if (take(kWide) || read_dash()) return true;
    const char first = peek();
    const bool begins = first == '=' || first == ':' || ((first == '!' || first == '+') && peek(1) == '=');
    std::size_t length = begins ? 1 : 0;
    while (length > 0 && length < 3 && peek(length) == '=') ++length;
    if (first == '=' && peek(1) == '>') length = 2;
    at_ += length;
    return length > 0;
  }

  // "the password - ...", with a dash of any length between blanks
  bool read_dash() {
    static const WordList kDashes("dashes");
    return !tight_ && take(kDashes) && (said_ = loose_ = true);
  }

  // `"name": "DB_PASSWORD", "value": "..."`, and the same in YAML.
  bool read_companion() {
    static constexpr CharSet kBetween(", \t\r\n-\"'");
    const std::size_t start = at_;
    for (int i = 0; i < 40 && kBetween.has(peek()); ++i) ++at_;
    if (follows("parametervalue")) at_ += 9;
    if (follows("value")) {
      at_ += 5;
      if (is_quote(peek())) ++at_;
      skip_blanks(4);
      if (peek() == ':' || peek() == '=') return ++at_, true;
    }
    at_ = start;
    return false;
  }

  // "github-token": { "github.com": "..." }
  bool read_host() {
    skip_blanks(40);
    if (peek() != '"') return false;
    const std::size_t end = runs_.end(Chars::name, at_ + 1);
    const std::string_view host = text_.substr(at_ + 1, end - at_ - 1);
    if (host.find('.') == std::string_view::npos || text_.substr(end, 2) != "\":") return false;
    at_ = end + 2;
    return true;
  }

  // variable "db_password" { default = "..." }
  bool read_default() {
    if (!closed_quote_ || peek() != ' ' || peek(1) != '{') return false;
    const std::string_view body = text_.substr(at_, 200);
    const std::size_t word = body.substr(0, body.find('}')).find("default");
    if (word == std::string_view::npos) return false;
    at_ += word + 7;
    skip_blanks(40);
    return read_sign();
  }

  // set("password", "..."), get("password").fill("..."), NAME || "..."
  bool read_argument() {
    const std::size_t start = at_;
    if (follows("||") || follows("??")) {
      at_ += 2;
    } else if (peek() == ',' && closed_quote_) {
      ++at_;
    } else if (peek() == '.' && closed_quote_) {
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
  bool read_element() {
    constexpr std::string_view kPair = "</key><string>", kValue = "<value>";
    if (peek() == '>' && begin_ > 0 && (text_[begin_ - 1] == '<' || text_[begin_ - 1] == ':'))
      return element_ = true, ++at_, true;
    if (peek() == '<' && follows(kPair)) return element_ = true, at_ += kPair.size(), true;
    if (!closed_quote_ || (peek() != '>' && tight_)) return false;
    const std::string_view head = text_.substr(at_, 80);
    const std::size_t end = head.find_first_of("<>\n");
    if (end == std::string_view::npos || head[end] != '>') return false;
    const bool value = head.substr(end + 1).starts_with(kValue);
    if (!value && (end > 0 || !tight_)) return false;
    at_ += end + 1 + (value ? kValue.size() : 0);
    return element_ = true;
  }

  // --password hunter42, PASSWORD 'hunter42', the password is hunter42
  bool read_prose(std::size_t after_name) {
    static const WordList kIs("is");
    // -storepass x: an option of one dash has a long name.
    flag_ = begin_ >= 2 && text_[begin_ - 1] == '-' &&
            (text_[begin_ - 2] == '-' || (text_[begin_ - 2] == ' ' && name_end_ - begin_ > 6));
    loose_ = !flag_;
    // $ cat config/master.key, and what it printed
    const bool printed = peek() == '\n' && (flag_ || ends_with_nocase(name(), ".key"));
    if ((at_ == after_name && !printed) || peek() == '\0') return false;
    said_ = take(kIs);
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
      if (peek() == '+' || peek() == '-') ++at_;  // of a diff
      skip_blanks(40);
    }
    tight_ = tight_ && at_ == start;
  }

  std::string_view text_;
  Runs& runs_;
  std::vector<FoundSecret>& found_;
  std::size_t begin_, name_end_;
  std::size_t at_;
  bool closed_quote_ = false;
  bool tight_ = false;  // no blank around the separator
  bool loose_ = false;
  bool paired_ = false;
  bool flag_ = false;     // --name
  bool element_ = false;  // <name>value</name>
  bool header_ = false;   // Authorization: SCHEME value
  bool block_ = false;    // of YAML: the value is in the lines below
  bool said_ = false;     // the password is VALUE
  bool call_ = false;     // auth("name", "value")
  bool sign_ = false;     // = or :
  std::size_t judged_ = kReadingName;
};

}  // namespace

std::size_t find_value_of(const Hit& name, Strength strength) {
  NamedReader reader(name);
  reader.find(strength);
  return reader.judged();
}

}  // namespace cairn::gate
