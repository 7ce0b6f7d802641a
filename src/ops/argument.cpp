#include "ops/argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "host/host.h"
#include "ops/operation.h"
#include "recall/query.h"

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

Argument path(std::string_view name, std::string_view meaning) {
  return made(name, ArgumentType::path, "PATH", meaning);
}

Argument named(std::string_view name, std::string_view what, std::string_view meaning) {
  Argument argument = made(name, ArgumentType::name, "ID", meaning);
  argument.what = what;
  return argument;
}

Argument session(std::string_view name, std::string_view meaning) {
  return named(name, "a session: its number, or the beginning of its id", meaning);
}

Argument document(std::string_view name, std::string_view meaning) {
  return named(name, "a document: D12, or its name", meaning);
}

// Arguments hold views, so the list must live as long as the program.
Argument host(std::string_view name, std::string_view meaning) {
  static const std::string kNames = host::host_names();
  return choice(name, kNames, meaning).as("HOST");
}

Argument provider(std::string_view name, std::string_view meaning) {
  return choice(name, find_setting("agent.provider")->choices, meaning);
}

static Argument of_kinds(Argument argument, std::string_view kinds) {
  argument.kinds = kinds;
  return argument;
}

Argument record(std::string_view name, std::string_view kinds, std::string_view meaning) {
  return of_kinds(made(name, ArgumentType::record, "ID", meaning), kinds);
}

Argument records(std::string_view name, std::string_view kinds, std::string_view meaning) {
  return of_kinds(made(name, ArgumentType::records, "ID", meaning), kinds);
}

std::string Argument::option() const {
  std::string text = "--" + std::string(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string Argument::spelled(Spelling spelling) const {
  if (spelling == Spelling::request || place == Place::nowhere) return std::string(name);
  return place == Place::option ? option() : std::string(label);
}

static std::string listed(std::string_view choices) {
  return fmt::format("{}", fmt::join(split(choices, '|'), ", "));
}

// "S3, O12 or W4"
static std::string examples(std::string_view kinds) {
  constexpr std::array<std::string_view, 9> kExamples = {"S3", "O12", "P7", "T5",      "A9",
                                                         "E8", "D2",  "W4", ":TOOL:12"};
  std::vector<std::string_view> found;
  for (std::string_view one : kExamples)
    if (kinds.find(one.front()) != std::string_view::npos)
      found.push_back(one.starts_with(':') ? one.substr(1) : one);
  const std::string_view last = found.back();
  found.pop_back();
  return fmt::format("{}{}{}", fmt::join(found, ", "), found.empty() ? "" : " or ", last);
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
    case ArgumentType::name: return std::string(argument.what);
    case ArgumentType::record: return "the id of a record, such as " + examples(argument.kinds);
    case ArgumentType::records: return "a list of ids of records, such as " + examples(argument.kinds);
    case ArgumentType::path: return "an absolute path";
  }
  return "";
}

static bool is_moment(std::string_view text) {
  // Any time serves as "now": whether a text can be parsed does not depend on it.
  constexpr std::int64_t kSomeTime = 1'800'000'000'000;
  return recall::read_moment(text, from_epoch_ms(kSomeTime)).ok();
}

static bool is_record(const Argument& argument, const Json& value) {
  const std::string_view text = value.as_string();
  // "TOOL:12" is an id of an imported memory; only some operations take it.
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos)
    return argument.kinds.ends_with(':') && colon > 0 && colon + 1 < text.size();
  // The letter of an id is compared in upper case ("o12" is O12).
  return recall::read_record_id(text).ok() &&
         argument.kinds.find(static_cast<char>(text.front() & ~0x20)) != std::string_view::npos;
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
    // A program may send the number of a session as a number.
    case ArgumentType::name: return !text.empty() || (value.is_int() && value.as_int() > 0);
    case ArgumentType::record: return is_record(argument, value);
    case ArgumentType::records:
      return !items.empty() && std::all_of(items.begin(), items.end(),
                                           [&](const Json& item) { return is_record(argument, item); });
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

std::string Args::name(std::string_view name) const {
  CAIRN_ASSERT(declared(name).type == ArgumentType::name);
  const Json& given = value(name);
  return given.is_int() ? std::to_string(given.as_int()) : std::string(given.as_string());
}

std::optional<Args::Numbered> Args::numbered(std::string_view argument) const {
  const std::string text = name(argument);
  Numbered found;
  std::string_view digits = text;
  if (!digits.empty() && (digits.front() < '0' || digits.front() > '9')) {
    // Without bit 0x20 a letter is in upper case.
    found.letter = static_cast<char>(digits.front() & ~0x20);
    digits.remove_prefix(1);
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), found.number);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return found;
}

std::optional<WallTime> Args::moment(std::string_view name, WallTime now, bool end) const {
  CAIRN_ASSERT(declared(name).type == ArgumentType::moment);
  if (!has(name)) return std::nullopt;
  // value() cannot fail here and below: check() has read the same text before.
  return recall::read_moment(value(name).as_string(), now, end).value();
}

recall::RecordId Args::record(std::string_view name) const {
  CAIRN_ASSERT(declared(name).type == ArgumentType::record);
  return recall::read_record_id(value(name).as_string()).value();
}

std::vector<recall::RecordId> Args::records(std::string_view name) const {
  CAIRN_ASSERT(declared(name).type == ArgumentType::records);
  std::vector<recall::RecordId> list;
  for (const Json& item : value(name).items())
    list.push_back(recall::read_record_id(item.as_string()).value());
  return list;
}

}  // namespace cairn::ops
