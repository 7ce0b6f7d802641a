#include "ops/argument.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "ops/operation.h"
#include "recall/query.h"
#include "recall/record.h"

namespace cairn::ops {

using ArgumentType = Argument::Type;

static Argument made(std::string_view name, ArgumentType type, std::string_view label,
                     std::string_view meaning) {
  Argument argument;
  argument.name = name;
  argument.type = type;
  argument.label = label;
  argument.meaning = meaning;
  return argument;
}

Argument text(std::string_view name, std::string_view meaning) {
  return made(name, ArgumentType::text, "TEXT", meaning);
}

Argument choice(std::string_view name, std::string_view choices, std::string_view meaning) {
  Argument argument = made(name, ArgumentType::choice, choices, meaning);
  argument.choices = choices;
  return argument;
}

Argument integer(std::string_view name, std::int64_t min, std::int64_t max, std::string_view meaning) {
  Argument argument = made(name, ArgumentType::integer, "N", meaning);
  argument.min = min;
  argument.max = max;
  return argument;
}

Argument flag(std::string_view name, std::string_view meaning) {
  return made(name, ArgumentType::flag, "", meaning);
}

Argument texts(std::string_view name, std::string_view meaning) {
  return made(name, ArgumentType::texts, "TEXT", meaning);
}

Argument moment(std::string_view name, std::string_view meaning) {
  return made(name, ArgumentType::moment, "DATE", meaning);
}

Argument session(std::string_view name, std::string_view meaning) {
  return made(name, ArgumentType::session, "ID", meaning);
}

Argument record(std::string_view name, std::string_view meaning) {
  return made(name, ArgumentType::record, "ID", meaning);
}

Argument records(std::string_view name, std::string_view meaning) {
  return made(name, ArgumentType::records, "ID", meaning);
}

Argument path(std::string_view name, std::string_view meaning) {
  return made(name, ArgumentType::path, "PATH", meaning);
}

Argument Argument::needed() const {
  Argument changed = *this;
  changed.required = true;
  return changed;
}

Argument Argument::otherwise(std::int64_t value) const {
  Argument changed = *this;
  changed.fallback = value;
  return changed;
}

Argument Argument::as(std::string_view value_label) const {
  Argument changed = *this;
  changed.label = value_label;
  return changed;
}

Argument Argument::only_with(std::string_view other) const {
  Argument changed = *this;
  changed.with = other;
  return changed;
}

Argument Argument::checked_by(std::string (*check)(World&, const std::string&)) const {
  Argument changed = *this;
  changed.wrong = check;
  return changed;
}

static Argument placed(Argument argument, Argument::Place place) {
  argument.place = place;
  return argument;
}

Argument Argument::word() const {
  return placed(*this, Argument::Place::word);
}

Argument Argument::words() const {
  return placed(*this, Argument::Place::words);
}

Argument Argument::rest_of_line() const {
  return placed(*this, Argument::Place::text);
}

Argument Argument::in_requests() const {
  return placed(*this, Argument::Place::nowhere);
}

std::string Argument::option() const {
  std::string text = "--" + std::string(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

static std::string listed(std::string_view choices) {
  std::string list;
  for (const std::string_view one : split(choices, '|')) list.append(list.empty() ? "" : ", ").append(one);
  return list;
}

std::string wanted(const Argument& argument) {
  switch (argument.type) {
    case ArgumentType::text: return "a text";
    case ArgumentType::choice: return "one of " + listed(argument.choices);
    case ArgumentType::integer:
      return fmt::format("a whole number from {} to {}", argument.min, argument.max);
    case ArgumentType::flag: return "true or false";
    case ArgumentType::texts: return "a list of texts";
    case ArgumentType::moment: return "a time: 2h, 3d, 2w, 6mo, yesterday, 2026-10-01 or 2026-10-01T14:30";
    case ArgumentType::session: return "a session: its number, or the beginning of its id";
    case ArgumentType::record: return "the id of a record, such as S3, O12, P7, T5, A9 or W4";
    case ArgumentType::records: return "a list of ids of records, such as S3, O12, P7, T5, A9 or W4";
    case ArgumentType::path: return "an absolute path";
  }
  return "";
}

static bool is_moment(std::string_view text) {
  // Any time will do: whether a text can be parsed does not depend on it.
  constexpr std::int64_t kSomeTime = 1'800'000'000'000;
  return recall::read_moment(text, from_epoch_ms(kSomeTime)).ok();
}

static bool is_record(const Json& value) {
  return value.is_string() && recall::read_record_id(value.as_string()).ok();
}

// Also "TOOL:12", the id in a memory that was imported.
static bool is_record_or_alias(const Json& value) {
  const std::string_view text = value.as_string();
  const std::size_t colon = text.find(':');
  return is_record(value) || (colon != std::string_view::npos && colon > 0 && colon + 1 < text.size());
}

bool fits(const Argument& argument, const Json& value) {
  const std::string_view text = value.as_string();
  const auto& items = value.items();
  switch (argument.type) {
    case ArgumentType::text: return value.is_string();
    case ArgumentType::choice: {
      const auto all = split(argument.choices, '|');
      return value.is_string() && std::find(all.begin(), all.end(), text) != all.end();
    }
    case ArgumentType::integer:
      return value.is_int() && value.as_int() >= argument.min && value.as_int() <= argument.max;
    case ArgumentType::flag: return value.is_bool();
    case ArgumentType::texts:
      return value.is_array() &&
             std::all_of(items.begin(), items.end(), [](const Json& item) { return item.is_string(); });
    case ArgumentType::moment: return value.is_string() && is_moment(text);
    case ArgumentType::session: return !text.empty() || (value.is_int() && value.as_int() > 0);
    case ArgumentType::record: return is_record(value);
    case ArgumentType::records:
      return !items.empty() && std::all_of(items.begin(), items.end(), is_record_or_alias);
    case ArgumentType::path: return text.starts_with('/');
  }
  return false;
}

Args::Args(const Operation& operation, Json values) : operation_(&operation), values_(std::move(values)) {}

const Argument& Args::declared(std::string_view name) const {
  const Argument* argument = operation_->find(name);
  CAIRN_ASSERT(argument != nullptr);
  return *argument;
}

const Json& Args::value(std::string_view name) const {
  declared(name);
  return values_[name];
}

bool Args::has(std::string_view name) const {
  return !value(name).is_null();
}

bool Args::flag(std::string_view name) const {
  CAIRN_ASSERT(declared(name).type == ArgumentType::flag);
  return value(name).as_bool();
}

std::optional<std::int64_t> Args::optional_integer(std::string_view name) const {
  const Argument& argument = declared(name);
  CAIRN_ASSERT(argument.type == ArgumentType::integer);
  if (has(name)) return value(name).as_int();
  return argument.fallback;
}

std::int64_t Args::integer(std::string_view name) const {
  const auto number = optional_integer(name);
  CAIRN_ASSERT(number.has_value());
  return *number;
}

std::int64_t Args::integer(std::string_view name, std::int64_t otherwise) const {
  return optional_integer(name).value_or(otherwise);
}

std::optional<std::string> Args::optional_text(std::string_view name) const {
  const Json& given = value(name);
  CAIRN_ASSERT(given.is_null() || given.is_string());
  return given.is_null() ? std::nullopt : std::optional(std::string(given.as_string()));
}

std::string Args::text(std::string_view name) const {
  return optional_text(name).value_or("");
}

std::vector<std::string> Args::texts(std::string_view name) const {
  const ArgumentType type = declared(name).type;
  CAIRN_ASSERT(type == ArgumentType::texts || type == ArgumentType::records);
  std::vector<std::string> list;
  for (const Json& item : value(name).items()) list.emplace_back(item.as_string());
  return list;
}

std::string Args::session(std::string_view name) const {
  CAIRN_ASSERT(declared(name).type == ArgumentType::session);
  const Json& given = value(name);
  return given.is_int() ? std::to_string(given.as_int()) : std::string(given.as_string());
}

}  // namespace cairn::ops
