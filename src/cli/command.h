// The commands of `cairn` as data: help, usage errors and parsing come from one table.
//
// Most commands are operations: their arguments come from the operation's declaration (ops/argument.h), and
// the daemon checks them. Others declare their own. A command's name is its path of words ("sessions list").
// Arguments are written as help shows them ("ID...", "[NAME]"), and the same text is used to check them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/render.h"
#include "ops/operation.h"

namespace cairn::cli {

class Shell;  // shell.h

struct Option {
  std::string_view name;        // "--limit"
  std::string_view value;       // "N"; empty: a flag
  std::string_view meaning;     // one line
  std::string_view short_name;  // "-n"; empty: none
};

// What a command prints for the result of its operation.
struct Page {
  std::string text;  // for stdout; with --json the result is printed instead
  int code = 0;      // the exit code
  std::string note;  // a line on stderr; with --json only when the code is not 0
};
using Render = Page (*)(Shell& shell, const Json& args, const Json& result);

struct Command {
  std::string_view name;       // "sessions list"
  ops::Group group;            // its heading in help
  std::string_view arguments;  // "ID [NAME]"; NAME... takes any number
  std::vector<Option> options;
  std::string_view summary;    // one line
  std::string_view help;       // paragraphs
  Result<int> (*run)(Shell&);  // returns the exit code
  bool any_home = false;       // runs even when the home belongs to another user

  // For commands that are operations.
  const ops::Operation* operation = nullptr;
  Render render = nullptr;
  Status (*prepare)(Shell& shell, Json& args) = nullptr;  // completes the arguments before the request
};

// Every command of this release, in the order help shows them.
const std::vector<Command>& all_commands();

// Options that every command takes, at any position.
const std::vector<Option>& global_options();

// The command of an operation: its `run` requests the operation.
Command command_of(const ops::Operation& operation);

// A parsed command line.
struct Line {
  const Command* command = nullptr;  // none: help or version
  std::vector<std::string> path;     // the words that name a command or a group of them, for help
  std::vector<std::string> words;    // its arguments
  std::vector<std::pair<std::string_view, std::string>> options;  // by long name, global ones too, in order

  bool has(std::string_view option) const;
  std::optional<std::string> value(std::string_view option) const;  // the last one wins
  std::vector<std::string> values(std::string_view option) const;   // all of them, in order
  // The value as a whole number; `invalid` names the option and the range.
  Result<std::optional<std::int64_t>> number(std::string_view option, std::int64_t min,
                                             std::int64_t max) const;
};

// The arguments of a request for the line's operation. A value of the wrong type stays text, and the check
// refuses it. `directory` is the current directory, an absolute path.
Json request_arguments(const Line& line, const std::string& directory);
// Checks a request as the operation does; where alternatives are wrong, names them as they are typed.
Status check_typed(const ops::Operation& operation, const Json& args);

// Parses the arguments after the program's name. Fails with `invalid` and a suggestion. After a request for
// help or the version, the rest is not checked.
Result<Line> read_arguments(const std::vector<std::string>& arguments);

// overview(): the main commands and the names of the others. full_overview(): one line for every command.
// help_page(): a command or a group of commands; `invalid` when there is none of that name.
std::string overview(const Screen& screen);
std::string full_overview(const Screen& screen);
Result<std::string> help_page(const std::vector<std::string>& path, const Screen& screen);

// "cairn sessions list [--limit N]"
std::string usage(const Command& command);

}  // namespace cairn::cli
