// The arguments of operations: each with its type, range and one sentence of documentation.
//
// From this declaration come the check of every request, the options of the command line, the completions,
// the manual page, the schemas of the agent's tools, docs/reference/control.md and commands.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "recall/record.h"

namespace cairn::ops {

struct World;
struct Operation;

// How a message names an argument: as in a request ("into_host"), or as it is typed ("--into-host", "ID").
enum class Spelling { request, typed };

// Names are in snake case; the option of `max_age` is `--max-age`. Make one with the functions below.
struct Argument {
  enum class Type {
    text,
    choice,   // one of `choices`
    integer,  // a whole number from `min` to `max`
    flag,     // true or false; an option that needs no value
    texts,    // a list of texts; an option that may be given again
    moment,   // a time as people write it: 3d, yesterday, 2026-10-01
    name,     // what a person calls something that is stored, or its number; `what` says what it may be
    record,   // the id of a record of one of `kinds`: S3, O12
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
  std::string_view meaning;     // one line for help and documents
  std::string_view label;       // how help shows the value: N, DATE, ID
  std::string_view choices;     // "a|b|c"
  std::string_view kinds;       // letters of records: "OSP"; ':' is the id in another memory: TOOL:12
  std::string_view what;        // "a document: D12, or its name"
  std::string_view short_name;  // of the option: "-n"
  std::int64_t min = 0, max = 0;
  std::optional<std::int64_t> fallback;
  Place place = Place::option;
  bool required = false;
  bool commas = false;        // of texts: the command line takes several in one value, "A,B"
  std::string_view with;      // the argument that must be given too
  std::string_view excluded;  // arguments that must not be given too: "to format", "status=failed"
  // For texts whose allowed values only the daemon knows: returns what the value must be, or an empty text
  // when it is allowed.
  std::string (*wrong)(World& world, const std::string& value) = nullptr;

  // Changed copies of this argument.
  Argument needed() const { return changed(&Argument::required, true); }
  Argument otherwise(std::int64_t value) const { return changed(&Argument::fallback, std::optional(value)); }
  Argument as(std::string_view value_label) const { return changed(&Argument::label, value_label); }
  Argument only_with(std::string_view other) const { return changed(&Argument::with, other); }
  Argument not_with(std::string_view others) const { return changed(&Argument::excluded, others); }
  Argument or_short(std::string_view option) const { return changed(&Argument::short_name, option); }
  Argument by_commas() const { return changed(&Argument::commas, true); }
  Argument word() const { return changed(&Argument::place, Place::word); }          // sessions show ID
  Argument words() const { return changed(&Argument::place, Place::words); }        // show ID...
  Argument rest_of_line() const { return changed(&Argument::place, Place::text); }  // search WORDS...
  Argument in_requests() const { return changed(&Argument::place, Place::nowhere); }
  Argument checked_by(std::string (*check)(World&, const std::string&)) const {
    return changed(&Argument::wrong, check);
  }

  // "--max-age"
  std::string option() const;
  // Its name in a message.
  std::string spelled(Spelling spelling) const;

 private:
  template <class T>
  Argument changed(T Argument::*member, T value) const {
    Argument copy = *this;
    copy.*member = value;
    return copy;
  }
};

Argument text(std::string_view name, std::string_view meaning);
Argument choice(std::string_view name, std::string_view choices, std::string_view meaning);
Argument integer(std::string_view name, std::int64_t min, std::int64_t max, std::string_view meaning);
Argument flag(std::string_view name, std::string_view meaning);
Argument texts(std::string_view name, std::string_view meaning);
Argument moment(std::string_view name, std::string_view meaning);
Argument path(std::string_view name, std::string_view meaning);
// Something that is stored; `what` says what it may be.
Argument named(std::string_view name, std::string_view what, std::string_view meaning);
Argument session(std::string_view name, std::string_view meaning);
Argument document(std::string_view name, std::string_view meaning);
// A coding agent; a provider of models.
Argument host(std::string_view name, std::string_view meaning);
Argument provider(std::string_view name, std::string_view meaning);
// Records of these kinds.
inline constexpr std::string_view kAnyRecord = "SOPTAEDW", kStoredRecord = "SOPTADW";
Argument record(std::string_view name, std::string_view kinds, std::string_view meaning);
Argument records(std::string_view name, std::string_view kinds, std::string_view meaning);

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
  // What the user called it; empty when not given.
  std::string name(std::string_view name) const;
  // The same where it is a number: "B12", "b12", or "12" with the letter ' '.
  struct Numbered {
    char letter = ' ';
    std::int64_t number = 0;
  };
  std::optional<Numbered> numbered(std::string_view name) const;
  // `end`: a day means its last moment.
  std::optional<WallTime> moment(std::string_view name, WallTime now, bool end = false) const;
  recall::RecordId record(std::string_view name) const;                // must be given
  std::vector<recall::RecordId> records(std::string_view name) const;  // empty when not given

 private:
  const Argument& declared(std::string_view name) const;
  const Json& value(std::string_view name) const;

  const Operation* operation_;
  Json values_;
};

}  // namespace cairn::ops
