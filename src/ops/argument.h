// The arguments of operations: each with its type, range and one sentence of documentation.
//
// From this declaration come the check of every request, the options of the command line, the completions,
// the manual page and docs/reference/control.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cairn::ops {

struct World;
struct Operation;

// Names are in snake case; the option of `max_age` is `--max-age`. Make one with the functions below.
struct Argument {
  enum class Type {
    text,
    choice,   // one of `choices`
    integer,  // a whole number from `min` to `max`
    flag,     // true or false; an option without a value
    texts,    // a list of texts; an option that may be given again
    moment,   // a time as people write it: 3d, yesterday, 2026-10-01
    session,  // a session's number, its id, or the beginning of its id
    record,   // the id of a record: S3, O12, P7, T5, W4
    records,  // a list of those, at least one
    path,     // an absolute path; the command line completes a relative one
  };
  // How the command line takes it.
  enum class Place {
    option,   // --limit N
    word,     // sessions show ID
    words,    // show ID...: the rest of the line, as a list
    text,     // search WORDS...: the rest of the line, as one text
    nowhere,  // not on the command line, only in requests
  };

  std::string_view name;
  Type type = Type::text;
  std::string_view meaning;  // one line for help and documents
  std::string_view label;    // how help shows the value: N, DATE, ID
  std::string_view choices;  // "a|b|c"
  std::int64_t min = 0, max = 0;
  std::optional<std::int64_t> fallback;
  Place place = Place::option;
  bool required = false;
  std::string_view with;  // the argument that must be given too
  // For texts whose allowed values only the daemon knows: returns what the value must be, or an empty text
  // when it is allowed.
  std::string (*wrong)(World& world, const std::string& value) = nullptr;

  // Changed copies of this argument.
  Argument needed() const;
  Argument otherwise(std::int64_t value) const;
  Argument as(std::string_view value_label) const;
  Argument only_with(std::string_view name) const;
  Argument checked_by(std::string (*wrong)(World&, const std::string&)) const;
  Argument word() const;          // sessions show ID
  Argument words() const;         // show ID...
  Argument rest_of_line() const;  // search WORDS...
  Argument in_requests() const;

  // "--max-age"
  std::string option() const;
};

Argument text(std::string_view name, std::string_view meaning);
Argument choice(std::string_view name, std::string_view choices, std::string_view meaning);
Argument integer(std::string_view name, std::int64_t min, std::int64_t max, std::string_view meaning);
Argument flag(std::string_view name, std::string_view meaning);
Argument texts(std::string_view name, std::string_view meaning);
Argument moment(std::string_view name, std::string_view meaning);
Argument session(std::string_view name, std::string_view meaning);
Argument record(std::string_view name, std::string_view meaning);
Argument records(std::string_view name, std::string_view meaning);
Argument path(std::string_view name, std::string_view meaning);

// What a value must be: "a whole number from 1 to 1000", "one of a, b".
std::string wanted(const Argument& argument);
// Whether `value` has the type and range of `argument`.
bool fits(const Argument& argument, const Json& value);

// The checked arguments of one request. Asking for an argument that the operation does not declare, or by
// another type, is a bug and ends the program.
class Args {
 public:
  Args(const Operation& operation, Json values);

  bool has(std::string_view name) const;
  bool flag(std::string_view name) const;             // false when it is not given
  std::int64_t integer(std::string_view name) const;  // must be required or have a fallback
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  std::optional<std::int64_t> optional_integer(std::string_view name) const;
  std::string text(std::string_view name) const;  // for every type that is a text; empty when not given
  std::optional<std::string> optional_text(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;  // for every list; empty when not given
  // A session as the user named it: by its number or by text.
  std::string session(std::string_view name) const;

 private:
  const Argument& declared(std::string_view name) const;
  const Json& value(std::string_view name) const;

  const Operation* operation_;
  Json values_;
};

}  // namespace cairn::ops
