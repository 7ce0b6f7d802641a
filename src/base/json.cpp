#include "base/json.h"

namespace cairn {

// Not in the header: every user would compile the variant's moves, and gcc 12 gives false warnings there.
Json::Json() = default;
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

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

}  // namespace cairn
