#include "gate/named_reader.h"

#include <algorithm>
#include <array>

#include "gate/secret_value.h"
#include "gate/shape.h"
#include "gate/telling_names.h"

namespace cairn::gate {

bool NamedReader::read_scheme() {
  static constexpr auto kSchemes = std::to_array<std::string_view>(
      {"bearer ", "basic ", "token ", "digest ", "apikey ", "api-key ", "key ", "ssws ", "negotiate ",
       "oauth ", "bot ", "token=", "token token="});
  static constexpr CharSet kFirst("abdknostABDKNOST");
  if (!kFirst.has(peek()) && !header_) return false;
  const char first = small(peek());
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
std::size_t NamedReader::whole_end(std::size_t end) {
  return end - at_ <= kMaxValue ? end
                                : std::min(end, std::max(runs_.end(Chars::visible, at_), at_ + kMaxValue));
}

// The lines of a block go on while they are as much drawn by lot as the first.
std::size_t NamedReader::block_end(std::size_t end) const {
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

NamedReader::Span NamedReader::read_quoted() {
  const char quote = peek();
  const bool three = peek(1) == quote && peek(2) == quote;
  at_ += three ? 3 : 1;
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

// What a language puts around a string: []byte("..."), string(12) "...", N'...'
void NamedReader::skip_wrap() {
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

// Any other call around a string: new String("...")
void NamedReader::skip_call() {
  if (!is(Chars::letter, peek())) return;
  const std::size_t word = follows("new ") ? at_ + 4 : at_;
  const std::size_t end = std::min(runs_.end(Chars::name, word), word + 40);
  if (end + 1 >= text_.size() || text_[end] != '(' || !is_quote(text_[end + 1])) return;
  at_ = end + 1;
  paired_ = true;
}

// The end of what stands in an element: its text may hold what ends a value elsewhere.
std::size_t NamedReader::element_end() {
  constexpr std::string_view kData = "<![CDATA[";
  const bool data = text_.substr(at_).starts_with(kData);
  if (data) at_ += kData.size();
  const std::string_view rest = text_.substr(at_, kMaxElement);
  return at_ + std::min(data ? rest.find("]]>") : rest.find_first_of("< \t\r\n"), rest.size());
}

// Behind an '&' comes another name=value; what is none belongs to the value before it.
std::size_t NamedReader::query_end(std::size_t end) const {
  if (end + 1 >= text_.size() || text_[end] != '&' || end == at_ || !is(Chars::alnum, text_[end + 1]))
    return end;
  const std::size_t next = run_end(Chars::plain_value, text_.substr(0, end + 66), end + 1);
  return text_.substr(end + 1, next - end - 1).find('=') == std::string_view::npos ? next : end;
}

// requirepass ...: alone in its line, and such a name that what follows is nothing else.
bool NamedReader::is_directive() const {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"auth_pass", "requirepass", "masterauth", "bindpw", "rootpw", "psk"});
  const bool known = std::any_of(kNames.begin(), kNames.end(),
                                 [&](std::string_view end) { return ends_with_nocase(name(), end); });
  if (!known || peek() == '%' || peek() == '<') return false;
  static constexpr CharSet kBefore(" \t+-");
  std::size_t line = begin_;
  while (line > 0 && begin_ - line < 40 && kBefore.has(text_[line - 1])) --line;
  std::size_t end = at_;
  while (end < text_.size() && end - at_ < kMaxName && is(Chars::visible, text_[end])) ++end;
  return (line == 0 || text_[line - 1] == '\n') && end - at_ >= 6 &&
         (end == text_.size() || text_[end] == '\n');
}

NamedReader::Span NamedReader::read_value(Style& style) {
  read_scheme();
  skip_wrap();
  if (!loose_) skip_call();
  if (is_quote(peek())) {
    style = loose_ ? Style::beside : paired_ ? Style::paired : Style::quoted;
    return read_quoted();
  }
  if (element_) {
    style = Style::plain;
    const std::size_t end = element_end();
    return {at_, end};
  }
  const bool env = loose_ ? is_directive() : tight_ && is_env_name();
  style = env ? Style::env : said_ ? Style::beside : loose_ ? Style::loose : Style::plain;
  std::size_t end = runs_.end(env ? Chars::visible : Chars::plain_value, at_);
  static constexpr CharSet kBehind(",;)}]");
  while (end > at_ && kBehind.has(text_[end - 1])) --end;
  if (loose_) return {at_, end};
  // server.ssl.key-store-password=...: as good as a variable, unless it is a word.
  if ((flag_ || (tight_ && name().find('.') != std::string_view::npos)) &&
      is_unspoken(text_.substr(at_, end - at_)))
    style = Style::env;
  return {at_, query_end(end)};
}

// Whether the notation alone says that the value is a password, whatever it looks like.
bool NamedReader::is_certain(Style style, std::size_t end) const {
  const std::string_view name = this->name();
  const std::string_view before =
      text_.substr(begin_ - std::min<std::size_t>(begin_, 80), std::min<std::size_t>(begin_, 80));
  const auto follows_word = [&](std::string_view word) { return ends_with_nocase(before, word); };
  if (element_) return true;                                         // <password>
  if (style == Style::beside && is_quote(text_[at_ - 1]) && !said_)  // SQL
    return name == "PASSWORD" || follows_word("with ");
  if (flag_) return text_[begin_ - 2] == ' ' && ends_with_nocase(name, "pass");  // -storepass
  if (loose_)
    return before.find("machine ") != std::string_view::npos && follows_word(" ") && name == "password";
  if (is_directive() || (sign_ && ends_with_nocase(name, "psk") && begins_its_line())) return true;
  if (is_env_name() && name.find('_') != std::string_view::npos) {
    static constexpr auto kLabels = std::to_array<std::string_view>(
        {"FORGOT", "RESET",       "INVALID", "WRONG", "CHANGE", "CONFIRM", "ENTER",
         "LABEL",  "TITLE",       "ERR",     "TYPE",  "FIELD",  "HIDE",    "SHOW",
         "WEAK",   "PLACEHOLDER", "ROUTE",   "NEW_",  "OLD_",   "REPEAT"});
    const bool label = std::any_of(kLabels.begin(), kLabels.end(), [&](std::string_view word) {
      return name.find(word) != std::string_view::npos;
    });
    return !label && (paired_ || style == Style::env || (sign_ && begins_its_line() && !is_code_line(end)));
  }
  // spring.datasource.password=...; login.password=... is what a form says
  static constexpr auto kForms = std::to_array<std::string_view>(
      {"login",   "form",  "label", "user",        "field",    "error",     "msg",
       "message", "title", "page",  "signup",      "register", "account",   "auth",
       "profile", "self",  "this",  "placeholder", "reset",    "validation"});
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || !tight_ || !sign_ || style != Style::plain) return false;
  const std::string_view owner = name.substr(name.substr(0, dot).rfind('.') + 1);
  const bool form = std::any_of(kForms.begin(), kForms.end(), [&](std::string_view word) {
    return starts_with_nocase(owner, word) || starts_with_nocase(name, word);
  });
  return !form && (begin_ == 0 || text_[begin_ - 1] == '\n') &&
         (end == text_.size() || text_[end] == '\n' || text_[end] == '\r');
}

// The end of the ASCII at `begin`, when there is enough of it for a password; `begin` itself when there is
// not.
std::size_t NamedReader::ascii_end(std::size_t begin, std::size_t end) const {
  const std::size_t limit = std::min(end, begin + kMaxValue);
  std::size_t at = begin;
  while (at < limit && static_cast<unsigned char>(text_[at]) < 0x80) ++at;
  return at == limit ? end : at - begin >= 6 ? at : begin;
}

bool NamedReader::begins_its_line() const {
  static constexpr CharSet kBefore(" \t+-\"'");
  std::size_t line = begin_;
  while (line > 0 && begin_ - line < 40 && kBefore.has(text_[line - 1])) --line;
  return line == 0 || text_[line - 1] == '\n';
}

// A statement ends with a sign; so does a call.
bool NamedReader::is_code_line(std::size_t end) const {
  while (end < text_.size() && is_quote(text_[end])) ++end;
  return end < text_.size() && (text_[end] == ';' || text_[end] == '(' || text_[end] == ')');
}

// The end of the string that is joined with the one in text[begin, end), when both together are a secret.
std::size_t NamedReader::joined_end(Strength strength, std::size_t begin, std::size_t end) const {
  if (end >= text_.size() || !is_quote(text_[end])) return end;
  const std::size_t next = std::max(over_join(text_, end), over_break(text_, end));
  if (next == end || !is_quote(text_[next - 1])) return end;
  const std::size_t stop = run_end(Chars::visible, text_.substr(0, next + kMaxValue), next);
  if (stop >= text_.size() || !is_quote(text_[stop])) return end;
  const std::string whole =
      std::string(text_.substr(begin, std::min(end - begin, kMaxValue))).append(text_, next, stop - next);
  return is_secret(strength, Style::quoted, whole) ? stop : end;
}

// Whether another value stands where a quoted one ends that was none: auth=("name", "password")
bool NamedReader::read_second(std::size_t end, Style style) {
  if (!call_ || style != Style::quoted || end >= text_.size() || !is_quote(text_[end])) return false;
  at_ = end + 1;
  if (peek() != ',') return false;
  ++at_;
  skip_blanks(4);
  return paired_ = is_quote(peek());
}

// Where the password begins in `credentials: name:password`; 0: there is none.
std::size_t NamedReader::behind_user(std::string_view value) const {
  const bool credentials = ends_with_nocase(name(), "creds") || ends_with_nocase(name(), "credentials") ||
                           ends_with_nocase(name(), "auth");
  std::size_t colon = 0;
  while (credentials && colon < value.size() && (is(Chars::name, value[colon]) || value[colon] == '@'))
    ++colon;
  if (colon == 0 || colon >= value.size() || value[colon] != ':') return 0;
  return is_secret(Strength::password, Style::paired, value.substr(colon + 1)) ? colon + 1 : 0;
}

// "old" -> "new"
void NamedReader::find_new(Strength strength, std::vector<Place>& found) {
  constexpr std::string_view kArrow = "\" -> \"";
  if (!text_.substr(at_, kArrow.size()).starts_with(kArrow)) return;
  at_ += kArrow.size();
  const std::size_t end = whole_end(runs_.end(Chars::in_double, at_));
  if (is_secret(strength, Style::quoted, text_.substr(at_, std::min(end - at_, kMaxValue))))
    found.push_back({at_, end, kind_name(strength)});
}

// credentials("id", "secret"): what stands behind the first of them.
void NamedReader::find_next(Strength strength, std::vector<Place>& found) {
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

void NamedReader::find(Strength strength, std::vector<Place>& found) {
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
  Style style = Style::plain;
  for (int tries = 0; tries < 2; ++tries) {
    auto [begin, end] = read_value(style);
    // A sentence of another language goes on without a blank.
    if (style == Style::plain || style == Style::beside || style == Style::loose) end = ascii_end(begin, end);
    const std::string_view value = text_.substr(begin, std::min(end - begin, kMaxValue));
    judged_ += kReadingValue + value.size();
    if (element_ && text_.substr(end, 2) != "</" && text_.substr(end, 2) != "]]") return;
    if (strength == Strength::password && is_certain(style, end)) style = Style::certain;
    bool secret = is_secret(strength, style, value);
    if (!secret && (style == Style::quoted || style == Style::paired))
      if (const std::size_t stop = joined_end(strength, begin, end); stop > end) {
        found.push_back({begin, stop, kind_name(strength)});
        return;
      }
    // auth("..."): a password, unless it looks like a token.
    if (!secret && call_ && strength == Strength::token &&
        is_secret(Strength::password, Style::paired, value))
      strength = Strength::password, secret = true;
    if (secret && !is_named_otherwise(name(), value) && is_whole(end, value)) {
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

}  // namespace cairn::gate
