#include "base/json.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace cairn {

namespace {

using Source = nlohmann::json;

constexpr int kNumberOverflow = 406;  // nlohmann's exception id

// Builds the tree while the text is read. Each open container is the last item of its parent, so pointers to
// open containers stay valid. When the text breaks off, `root` has what was read so far.
class Builder {
 public:
  explicit Builder(const Json::Limits& limits) : limits_(limits) {}

  Json root;
  bool limited = false;
  std::size_t offset = 0;
  int error_id = 0;

  bool null() { return add(Json()); }
  bool boolean(bool b) { return add(Json(b)); }
  bool number_integer(std::int64_t n) { return add(Json(static_cast<long long>(n))); }
  bool number_unsigned(std::uint64_t n) {
    if (n > static_cast<std::uint64_t>(INT64_MAX)) return add(Json(static_cast<double>(n)));
    return number_integer(static_cast<std::int64_t>(n));
  }
  bool number_float(double d, const std::string&) { return add(Json(d)); }
  bool string(std::string& s) { return skipping() || add(Json(shortened(s))); }
  bool binary(Source::binary_t&) { return false; }
  bool key(std::string& s) {
    if (!skipping()) key_ = shortened(s);
    return true;
  }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t position, const std::string&, const Source::exception& error) {
    offset = position > 0 ? position - 1 : 0;
    error_id = error.id;
    return false;
  }

 private:
  bool skipping() const { return skipped_ > 0; }

  std::string shortened(std::string& s) {
    if (s.size() <= limits_.string_bytes) return s;
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

  bool add(Json&& value) {
    place(std::move(value));
    return true;
  }

  bool open(Json&& container) {
    const bool too_deep = open_.size() >= limits_.depth;
    Json* placed = place(too_deep ? Json("[cut: too deep]") : std::move(container));
    if (placed != nullptr && !too_deep) {
      open_.push_back(placed);
      return true;
    }
    limited = true;
    ++skipped_;
    return true;
  }

  bool close() {
    if (skipped_ > 0)
      --skipped_;
    else
      open_.pop_back();
    return true;
  }

  Json::Limits limits_;
  std::vector<Json*> open_;
  std::string key_;
  std::size_t nodes_ = 0;
  std::size_t skipped_ = 0;  // containers that are open in the text but were dropped from the tree
};

// The four hex digits at `at` as a number, or -1.
int hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return -1;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, value, 16);
  return error == std::errc() && end == text.data() + at + 4 && text[at] != '-' ? value : -1;
}

bool is_high(int unit) {
  return unit >= 0xd800 && unit <= 0xdbff;
}
bool is_low(int unit) {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

// The position of the digits of the next lone surrogate escape at or after `at`; npos when there is none. A
// backslash occurs only in strings, so no other syntax needs to be parsed.
std::size_t lone_surrogate(std::string_view text, std::size_t& at) {
  while ((at = text.find('\\', at)) != std::string_view::npos) {
    if (at + 1 >= text.size() || text[at + 1] != 'u') {
      at += 2;
      continue;
    }
    const std::size_t digits = at + 2;
    const int unit = hex4(text, digits);
    at += unit < 0 ? 2 : 6;
    if (is_low(unit)) return digits;
    if (!is_high(unit)) continue;
    if (text.substr(at, 2) != "\\u" || !is_low(hex4(text, at + 2))) return digits;
    at += 6;
  }
  return std::string_view::npos;
}

// Fixes what nlohmann refuses and we accept. Returns `text` itself or a view of `storage`.
std::string_view repaired(std::string_view text, std::string& storage) {
  if (!is_utf8(text)) text = storage = valid_utf8(std::string(text));
  std::size_t at = 0;
  std::size_t digits = lone_surrogate(text, at);
  if (digits == std::string_view::npos) return text;
  if (storage.empty()) text = storage = std::string(text);
  while (digits != std::string_view::npos) {
    storage.replace(digits, 4, "fffd");
    digits = lone_surrogate(text, at);
  }
  return text;
}

bool overflows(std::string_view number) {
  if (number.size() < 4) return false;
  return !std::isfinite(std::strtod(std::string(number).c_str(), nullptr));
}

// `text` with numbers too large for a double replaced by null.
std::string without_overflow(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (in_string) {
      if (text[at] == '\\') end = std::min(at + 2, text.size());
      if (text[at] == '"') in_string = false;
    } else if (text[at] == '"') {
      in_string = true;
    } else if (text[at] == '-' || (text[at] >= '0' && text[at] <= '9')) {
      end = std::min(text.find_first_not_of("0123456789+-.eE", at), text.size());
      if (overflows(text.substr(at, end - at))) {
        out.append("null");
        at = end;
        continue;
      }
    }
    out.append(text, at, end - at);
    at = end;
  }
  return out;
}

Json::Parsed read(std::string_view text, const Json::Limits& limits, bool again) {
  Builder builder(limits);
  const bool complete = Source::sax_parse(text.data(), text.data() + text.size(), &builder);
  if (!complete && builder.error_id == kNumberOverflow && again)
    return read(without_overflow(text), limits, false);
  Json::Parsed parsed;
  parsed.value = std::move(builder.root);
  parsed.complete = complete;
  parsed.limited = builder.limited;
  parsed.offset = complete ? text.size() : std::min(builder.offset, text.size());
  return parsed;
}

void append_string(std::string& out, std::string_view text) {
  std::string fixed;
  if (!is_utf8(text)) text = fixed = valid_utf8(std::string(text));
  out.push_back('"');
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) continue;
    out.append(text, from, i - from);
    from = i + 1;
    switch (c) {
      case '"': out.append("\\\""); break;
      case '\\': out.append("\\\\"); break;
      case '\n': out.append("\\n"); break;
      case '\r': out.append("\\r"); break;
      case '\t': out.append("\\t"); break;
      default: {
        static constexpr char kDigits[] = "0123456789abcdef";
        out.append("\\u00").push_back(kDigits[c >> 4]);
        out.push_back(kDigits[c & 15]);
      }
    }
  }
  out.append(text, from).push_back('"');
}

void append_double(std::string& out, double d) {
  if (!std::isfinite(d)) {
    out.append("null");
    return;
  }
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, d).ptr;
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  out.append(text);
  if (text.find_first_of(".e") == std::string_view::npos)
    out.append(".0");  // so that it is read back as a double
}

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}
  std::string out;

  void value(const Json& json) {
    if (json.is_array())
      list('[', ']', json.items(), [this](const Json& item) { value(item); });
    else if (json.is_object())
      list('{', '}', json.members(), [this](const Json::Member& m) { member(m); });
    else if (json.is_string())
      append_string(out, json.as_string());
    else if (json.is_int())
      out.append(std::to_string(json.as_int()));
    else if (json.is_number())
      append_double(out, json.as_double());
    else if (json.is_bool())
      out.append(json.as_bool() ? "true" : "false");
    else
      out.append("null");
  }

 private:
  void member(const Json::Member& m) {
    append_string(out, m.first);
    out.append(indent_ > 0 ? ": " : ":");
    value(m.second);
  }

  template <class List, class F>
  void list(char open, char close, const List& items, F&& each) {
    out.push_back(open);
    ++level_;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out.push_back(',');
      first = false;
      line();
      each(item);
    }
    --level_;
    if (!first) line();
    out.push_back(close);
  }

  void line() {
    if (indent_ > 0) out.append("\n").append(static_cast<std::size_t>(indent_ * level_), ' ');
  }

  int indent_;
  int level_ = 0;
};

}  // namespace

// Not in the header: every user would compile the variant's moves, and gcc 12 gives false warnings there.
Json::Json() = default;
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json::Parsed Json::parse_partial(std::string_view text, const Limits& limits) {
  std::string storage;
  Parsed parsed = read(repaired(text, storage), limits, true);
  parsed.offset = std::min(parsed.offset, text.size());  // the fixed text may be longer
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

bool Json::as_bool(bool fallback) const {
  const auto* b = std::get_if<bool>(&v_);
  return b ? *b : fallback;
}

std::int64_t Json::as_int(std::int64_t fallback) const {
  const auto* n = std::get_if<std::int64_t>(&v_);
  return n ? *n : fallback;
}

double Json::as_double(double fallback) const {
  if (const auto* d = std::get_if<double>(&v_)) return *d;
  const auto* n = std::get_if<std::int64_t>(&v_);
  return n ? static_cast<double>(*n) : fallback;
}

std::string_view Json::as_string(std::string_view fallback) const {
  const auto* s = std::get_if<std::string>(&v_);
  return s ? std::string_view(*s) : fallback;
}

const Json::Array& Json::items() const {
  static const Array none;
  const auto* a = std::get_if<Array>(&v_);
  return a ? *a : none;
}

const Json::Object& Json::members() const {
  static const Object none;
  const auto* o = std::get_if<Object>(&v_);
  return o ? *o : none;
}

Json::Array& Json::mutable_items() {
  CAIRN_ASSERT(is_array());
  return *std::get_if<Array>(&v_);
}

Json::Object& Json::mutable_members() {
  CAIRN_ASSERT(is_object());
  return *std::get_if<Object>(&v_);
}

const Json& Json::operator[](std::string_view key) const {
  static const Json null;
  for (const Member& member : members())
    if (member.first == key) return member.second;
  return null;
}

bool Json::has(std::string_view key) const {
  for (const Member& member : members())
    if (member.first == key) return true;
  return false;
}

std::optional<std::string> Json::text(std::string_view key) const {
  const Json& value = (*this)[key];
  if (!value.is_string()) return std::nullopt;
  return std::string(value.as_string());
}

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) v_ = Object();
  for (Member& member : mutable_members())
    if (member.first == key) {
      member.second = std::move(value);
      return *this;
    }
  mutable_members().emplace_back(std::string(key), std::move(value));
  return *this;
}

Json& Json::push(Json value) {
  if (is_null()) v_ = Array();
  mutable_items().push_back(std::move(value));
  return *this;
}

std::string Json::dump(int indent) const {
  Writer writer(indent);
  writer.value(*this);
  return std::move(writer.out);
}

}  // namespace cairn
