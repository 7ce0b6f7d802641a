// JSON values that are safe for untrusted input.
//
// parse() reads with limits and keeps the rest: a visible marker replaces what is too deep, a string that is
// too long is cut with one, and values beyond Limits::nodes are dropped. Objects keep the order of their
// keys. No exceptions, no recursion deeper than Limits::depth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace cairn {

class Json {
 public:
  struct Limits {
    std::size_t depth = 256;
    std::size_t nodes = 200'000;
    std::size_t string_bytes = 1 << 20;
  };
  struct Parsed;
  using Member = std::pair<std::string, Json>;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json();  // null
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();
  Json(std::nullptr_t) {}
  Json(bool b) : v_(b) {}
  Json(int n) : v_(static_cast<std::int64_t>(n)) {}
  Json(long n) : v_(static_cast<std::int64_t>(n)) {}
  Json(long long n) : v_(static_cast<std::int64_t>(n)) {}
  Json(unsigned n) : v_(static_cast<std::int64_t>(n)) {}
  Json(unsigned long n) : v_(static_cast<std::int64_t>(n)) {}
  Json(double d) : v_(d) {}
  Json(std::string s) : v_(std::move(s)) {}
  Json(std::string_view s) : v_(std::string(s)) {}
  Json(const char* s) : v_(std::string(s)) {}
  Json(const std::optional<std::string>& s) {
    if (s) v_ = *s;
  }
  Json(Array a) : v_(std::move(a)) {}
  Json(Object o) : v_(std::move(o)) {}
  static Json object(std::initializer_list<Member> members = {}) { return Json(Object(members)); }
  static Json array(std::initializer_list<Json> items = {}) { return Json(Array(items)); }

  // Reads `text`. Invalid UTF-8 and lone surrogates are replaced. Fails with `invalid`, naming the byte
  // offset, when the text is not JSON; parse_partial() gives what was read up to there instead.
  static Result<Json> parse(std::string_view text, const Limits& limits);
  static Result<Json> parse(std::string_view text) { return parse(text, Limits{}); }
  static Parsed parse_partial(std::string_view text, const Limits& limits);
  static Parsed parse_partial(std::string_view text);

  bool is_null() const { return std::holds_alternative<std::monostate>(v_); }
  bool is_bool() const { return std::holds_alternative<bool>(v_); }
  bool is_int() const { return std::holds_alternative<std::int64_t>(v_); }
  bool is_number() const { return is_int() || std::holds_alternative<double>(v_); }
  bool is_string() const { return std::holds_alternative<std::string>(v_); }
  bool is_array() const { return std::holds_alternative<Array>(v_); }
  bool is_object() const { return std::holds_alternative<Object>(v_); }

  // The value if it is of that kind, else the fallback.
  bool as_bool(bool fallback = false) const;
  std::int64_t as_int(std::int64_t fallback = 0) const;
  double as_double(double fallback = 0) const;
  std::string_view as_string(std::string_view fallback = {}) const;  // borrowed from this value

  // Items of an array, members of an object; empty for anything else.
  const Array& items() const;
  const Object& members() const;
  Array& mutable_items();     // must be an array
  Object& mutable_members();  // must be an object

  // The member `key`; null when there is none or this is not an object. The first of equal keys counts.
  const Json& operator[](std::string_view key) const;
  bool has(std::string_view key) const;
  // The string member `key`, or nothing when it is absent or not a string.
  std::optional<std::string> text(std::string_view key) const;

  // Sets or adds a member. A null value becomes an object.
  Json& set(std::string_view key, Json value);
  // Appends to an array. A null value becomes an array.
  Json& push(Json value);

  // Compact text on one line; valid UTF-8; never fails. `indent` > 0 pretty-prints.
  std::string dump(int indent = 0) const;

  // Calls `visit(std::string&)` for every string value, in document order, keys excluded.
  template <class F>
  void for_each_string(F&& visit);

  bool operator==(const Json&) const = default;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> v_;
};

struct Json::Parsed {
  Json value;
  bool complete = false;   // false: the text is not JSON from `offset` on; `value` is what came before
  bool limited = false;    // something was cut or dropped by a limit
  std::size_t offset = 0;  // where reading stopped
};

template <class F>
void Json::for_each_string(F&& visit) {
  if (auto* s = std::get_if<std::string>(&v_)) visit(*s);
  if (auto* a = std::get_if<Array>(&v_))
    for (Json& item : *a) item.for_each_string(visit);
  if (auto* o = std::get_if<Object>(&v_))
    for (Member& member : *o) member.second.for_each_string(visit);
}

}  // namespace cairn
