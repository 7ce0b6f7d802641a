#include "archive/json_fault.h"

#include "base/text.h"

namespace cairn::archive {

// A state machine over the bytes: `want_` says what may come next, and `open_` is the stack of open
// brackets. It does not call itself, so a deeply nested line cannot exhaust the stack of the thread.

namespace {

constexpr std::string_view kBlank = " \t\r\n", kDigits = "0123456789";

class Check {
 public:
  explicit Check(std::string_view text) : text_(text) {}

  std::optional<JsonFault> run() {
    for (skip(kBlank); at_ < text_.size(); skip(kBlank)) {
      if (const char* wrong = next(text_[at_])) return JsonFault{at_ + 1, wrong};
    }
    if (want_ != Want::end) return JsonFault{text_.size() + 1, "the line ends early"};
    return std::nullopt;
  }

 private:
  enum class Want { value, first_value, first_key, key, colon, more, end };

  void skip(std::string_view these) {
    while (at_ < text_.size() && these.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  // Reads one token at `at_`. Returns what is wrong with it, or null.
  const char* next(char c) {
    switch (want_) {
      case Want::end: return "something follows the record";
      case Want::colon:
        if (c != ':') return "a colon is missing";
        ++at_, want_ = Want::value;
        return nullptr;
      case Want::more: return more(c);
      case Want::first_key:
        if (c == '}') return close();
        [[fallthrough]];
      case Want::key:
        if (c != '"') return "a name is missing";
        want_ = Want::colon;
        return string();
      case Want::first_value:
        if (c == ']') return close();
        [[fallthrough]];
      case Want::value: return value(c);
    }
    return nullptr;
  }

  const char* more(char c) {
    if (c == (open_.back() == '{' ? '}' : ']')) return close();
    if (c != ',') return "a comma is missing";
    ++at_;
    want_ = open_.back() == '{' ? Want::key : Want::value;
    return nullptr;
  }

  const char* close() {
    ++at_;
    open_.pop_back();
    want_ = open_.empty() ? Want::end : Want::more;
    return nullptr;
  }

  const char* value(char c) {
    if (open_.empty() && c != '{') return "a record must be an object";
    if (c == '{' || c == '[') {
      open_ += c;
      ++at_;
      want_ = c == '{' ? Want::first_key : Want::first_value;
      return nullptr;
    }
    // Known before the value is read: after a string, a number or a word comes a comma or a bracket.
    want_ = Want::more;
    if (c == '"') return string();
    if (c == '-' || kDigits.find(c) != std::string_view::npos) return number();
    for (const std::string_view word : {"true", "false", "null"})
      if (text_.substr(at_, word.size()) == word) return at_ += word.size(), nullptr;
    return "not a JSON value";
  }

  const char* string() {
    for (++at_; at_ < text_.size(); ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') return ++at_, nullptr;
      if (c < 0x20) return "a control character in a string";
      if (c != '\\') continue;
      ++at_;
      if (at_ == text_.size()) break;
      if (std::string_view("\"\\/bfnrtu").find(text_[at_]) == std::string_view::npos)
        return "an invalid escape";
      if (text_[at_] != 'u') continue;
      for (int i = 0; i < 4; ++i)
        if (++at_ >= text_.size() ||
            std::string_view("0123456789abcdefABCDEF").find(text_[at_]) == std::string_view::npos)
          return "an invalid escape";
    }
    return "a string does not end";
  }

  const char* number() {
    if (text_[at_] == '-') ++at_;
    const std::size_t begin = at_;
    skip(kDigits);
    if (at_ == begin || (text_[begin] == '0' && at_ > begin + 1)) return "an invalid number";
    if (at_ < text_.size() && text_[at_] == '.') {
      const std::size_t fraction = ++at_;
      skip(kDigits);
      if (at_ == fraction) return "an invalid number";
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      const std::size_t exponent = at_;
      skip(kDigits);
      if (at_ == exponent) return "an invalid number";
    }
    return nullptr;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Want want_ = Want::value;
  std::string open_;  // the brackets that are open
};

}  // namespace

std::optional<JsonFault> line_fault(std::string_view line) {
  if (trim(line).empty()) return std::nullopt;
  return Check(line).run();
}

}  // namespace cairn::archive
