// Reads JSON text in one pass.
#include <utf8proc.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/json.h"
#include "base/text.h"

namespace cairn {

namespace {

// Builds the tree while the text is read. Each open container is the last item of its parent, so pointers to
// open containers stay valid. When the text breaks off, `root` has what was read so far.
class Builder {
 public:
  explicit Builder(const Json::Limits& limits) : limits_(limits) {}

  Json root;
  bool limited = false;

  void add(Json&& value) { place(std::move(value)); }
  void string(std::string&& s) {
    if (!skipping()) place(Json(shortened(std::move(s))));
  }
  void key(std::string&& s) {
    if (!skipping()) key_ = shortened(std::move(s));
  }

  // A container that is too deep becomes a text, one beyond the limit of nodes is dropped. In both cases its
  // content is still read, to find its end, but not added.
  void open(Json&& container) {
    const bool too_deep = open_.size() >= limits_.depth;
    Json* placed = place(too_deep ? Json("[cut: too deep]") : std::move(container));
    if (placed != nullptr && !too_deep) {
      open_.push_back(placed);
      return;
    }
    limited = true;
    ++skipped_;
  }

  void close() {
    if (skipped_ > 0)
      --skipped_;
    else
      open_.pop_back();
  }

 private:
  bool skipping() const { return skipped_ > 0; }

  std::string shortened(std::string&& s) {
    if (s.size() <= limits_.string_bytes) return std::move(s);
    limited = true;
    return cut(s, limits_.string_bytes);
  }

  // Adds `value` to the open container. Returns its new address, or null when it was dropped.
  Json* place(Json&& value) {
    if (skipping()) return nullptr;
    if (nodes_ >= limits_.nodes) {
      limited = true;
      return nullptr;
    }
    ++nodes_;
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    if (open_.back()->is_array()) return &open_.back()->mutable_items().emplace_back(std::move(value));
    return &open_.back()->mutable_members().emplace_back(std::move(key_), std::move(value)).second;
  }

  Json::Limits limits_;
  std::vector<Json*> open_;
  std::string key_;
  std::size_t nodes_ = 0;
  std::size_t skipped_ = 0;  // containers that are open in the text but were dropped from the tree
};

// Strict, as the standard has it, but for three things: a byte order mark at the start is skipped, a lone
// surrogate becomes U+FFFD, and a number that is too large for a double becomes null. Keeps one bit for each
// open container, so that depth costs no stack.
class Reader {
 public:
  // `text` must be UTF-8.
  Reader(std::string_view text, Builder& builder) : text_(text), builder_(builder) {}

  // False: the text is not JSON at at().
  bool run() {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    if (!value()) return false;
    while (!objects_.empty())
      if (!next()) return false;
    skip_blanks();
    return at_ == text_.size();
  }
  std::size_t at() const { return at_; }

 private:
  bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool is_digit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }

  void skip_blanks() {
    while (is_at(' ') || is_at('\n') || is_at('\t') || is_at('\r')) ++at_;
  }

  // The next item of the innermost container, or its end.
  bool next() {
    const bool in_object = objects_.back();
    skip_blanks();
    if (is_at(in_object ? '}' : ']')) {
      ++at_;
      builder_.close();
      objects_.pop_back();
      is_first_ = false;
      return true;
    }
    if (!is_first_) {
      if (!is_at(',')) return false;
      ++at_;
    }
    return (!in_object || key()) && value();
  }

  bool key() {
    skip_blanks();
    if (!is_at('"') || !string()) return false;
    builder_.key(std::move(string_));
    skip_blanks();
    if (!is_at(':')) return false;
    ++at_;
    return true;
  }

  // A container is only opened: run() reads what is in it.
  bool value() {
    skip_blanks();
    if (at_ >= text_.size()) return false;
    is_first_ = false;
    switch (text_[at_]) {
      case '{': return open(true, Json::object());
      case '[': return open(false, Json::array());
      case '"':
        if (!string()) return false;
        builder_.string(std::move(string_));
        return true;
      case 't': return literal("true", true);
      case 'f': return literal("false", false);
      case 'n': return literal("null", Json());
      default: return number();
    }
  }

  bool open(bool is_object, Json&& container) {
    ++at_;
    objects_.push_back(is_object);
    is_first_ = true;
    builder_.open(std::move(container));
    return true;
  }

  // Byte by byte, so that at() is where the text differs.
  bool literal(std::string_view name, Json&& value) {
    for (const char c : name) {
      if (!is_at(c)) return false;
      ++at_;
    }
    builder_.add(std::move(value));
    return true;
  }

  bool digits() {
    if (!is_digit()) return false;
    while (is_digit()) ++at_;
    return true;
  }

  bool number() {
    const std::size_t begin = at_;
    if (is_at('-')) ++at_;
    if (is_at('0'))  // JSON has no leading zeros: 01 is the number 0 and an error at the 1
      ++at_;
    else if (!digits())
      return false;
    const std::size_t whole = at_;
    if (is_at('.')) {
      ++at_;
      if (!digits()) return false;
    }
    if (is_at('e') || is_at('E')) {
      ++at_;
      if (is_at('+') || is_at('-')) ++at_;
      if (!digits()) return false;
    }
    add_number(text_.substr(begin, at_ - begin), at_ == whole);
    return true;
  }

  // A whole number that does not fit into 64 bits becomes a double, less exact, as in JavaScript.
  void add_number(std::string_view text, bool is_whole) {
    const char *const begin = text.data(), *const end = begin + text.size();
    long long integer = 0;
    if (is_whole && std::from_chars(begin, end, integer).ec == std::errc())
      return builder_.add(Json(integer));
    double real = 0;
    // from_chars() reports too large and too small numbers alike; strtod() gives infinity or 0.
    if (std::from_chars(begin, end, real).ec != std::errc())
      real = std::strtod(std::string(text).c_str(), nullptr);
    builder_.add(std::isfinite(real) ? Json(real) : Json());
  }

  // The first byte at or after `at` that ends a string or needs care: a quote, a backslash or a control
  // character. Tests eight bytes at once: subtracting n from each byte sets the highest bit of those below n.
  // A borrow from the byte before may set it wrongly. This only ends the fast loop early, and the slow loop
  // finds that nothing is there.
  std::size_t plain_end(std::size_t at) const {
    constexpr std::uint64_t kOnes = 0x0101010101010101u, kTops = 0x8080808080808080u;
    const auto has_zero = [](std::uint64_t word) { return (word - kOnes) & ~word & kTops; };
    for (; at + 8 <= text_.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text_.data() + at, 8);
      const std::uint64_t controls = (word - kOnes * 0x20) & ~word & kTops;
      if (controls | has_zero(word ^ kOnes * '"') | has_zero(word ^ kOnes * '\\')) break;
    }
    const auto is_plain = [](char c) {
      return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
    };
    while (at < text_.size() && is_plain(text_[at])) ++at;
    return at;
  }

  // Reads the string that begins here into string_.
  bool string() {
    string_.clear();
    for (std::size_t from = ++at_;; from = at_) {
      at_ = plain_end(from);
      string_.append(text_, from, at_ - from);
      if (is_at('"')) break;
      if (!is_at('\\')) return false;
      ++at_;
      if (!escape()) return false;
    }
    ++at_;
    return true;
  }

  bool escape() {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) return false;
    if (text_[at_] == 'u') return code_unit();
    const std::size_t which = kNames.find(text_[at_]);
    if (which == std::string_view::npos) return false;
    string_.push_back(kMeant[which]);
    ++at_;
    return true;
  }

  // The four hex digits at `at` as a number, or -1.
  int hex4(std::size_t at) const {
    if (at + 4 > text_.size()) return -1;
    int value = 0;
    const char* const digits = text_.data() + at;
    const auto [end, error] = std::from_chars(digits, digits + 4, value, 16);
    // from_chars() would accept a sign: "-123".
    return error == std::errc() && end == digits + 4 && *digits != '-' ? value : -1;
  }

  // Reads the digits of \uD83D or of the pair \uD83D\uDE00, which is one character beyond U+FFFF. A half of
  // a pair alone becomes U+FFFD.
  bool code_unit() {
    const auto is_low = [](int unit) { return unit >= 0xdc00 && unit <= 0xdfff; };
    int code = hex4(++at_);
    if (code < 0) return false;
    at_ += 4;
    if (code >= 0xd800 && code <= 0xdbff && text_.substr(at_, 2) == "\\u")
      if (const int low = hex4(at_ + 2); is_low(low)) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at_ += 6;
      }
    if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
    utf8proc_uint8_t bytes[4];
    const auto size = utf8proc_encode_char(code, bytes);
    string_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    return true;
  }

  std::string_view text_;
  Builder& builder_;
  std::size_t at_ = 0;
  std::vector<bool> objects_;  // of the open containers: whether it is an object
  bool is_first_ = false;      // nothing was read yet in the innermost container
  std::string string_;         // the last one read
};

}  // namespace

Json::Parsed Json::parse_partial(std::string_view text, const Limits& limits) {
  std::string repaired;
  std::string_view valid = text;
  if (!is_utf8(text)) valid = repaired = valid_utf8(std::string(text));
  Builder builder(limits);
  Reader reader(valid, builder);
  Parsed parsed;
  parsed.complete = reader.run();
  parsed.value = std::move(builder.root);
  parsed.limited = builder.limited;
  parsed.offset = std::min(reader.at(), text.size());  // the repaired text may be longer
  return parsed;
}

Json::Parsed Json::parse_partial(std::string_view text) {
  return parse_partial(text, Limits{});
}

Result<Json> Json::parse(std::string_view text, const Limits& limits) {
  Parsed parsed = parse_partial(text, limits);
  if (!parsed.complete) return Error{Code::invalid, "not JSON at byte " + std::to_string(parsed.offset)};
  return std::move(parsed.value);
}

}  // namespace cairn
