// The commands of `cairn` as data: one table from which help, usage errors and parsing come.
//
// Most commands are operations: their words and options come from the operation's declaration
// (ops/argument.h), and the daemon checks what they say. Others declare their own. A command's name is its
// path of words
// ("sessions list"). Arguments are written as help shows them ("ID...", "[NAME]"): that text is also what is
// checked. Pure but for the functions that the table points at.
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

class Shell;  // what a command works with; shell.h

struct Option {
  std::string_view name;        // "--limit"
  std::string_view value;       // "N"; empty: a flag
  std::string_view meaning;     // one line
  std::string_view short_name;  // "-n"; empty: none
};

// What a command prints for the result of its operation.
struct Page {
  std::string text;  // on stdout; with --json the result stands there instead
  int code = 0;      // the exit code
  std::string note;  // a line on stderr; with --json only when the code is not 0
};
using Render = Page (*)(Shell& shell, const Json& args, const Json& result);

struct Command {
  std::string_view name;       // "sessions list"
  ops::Group group;            // the heading it stands under
  std::string_view arguments;  // "ID [NAME]"; NAME... takes any number
  std::vector<Option> options;
  std::string_view summary;    // one line
  std::string_view help;       // paragraphs
  Result<int> (*run)(Shell&);  // gives the exit code
  bool any_home = false;       // runs even where the home is another user's

  // For commands that are operations.
  const ops::Operation* operation = nullptr;
  Render render = nullptr;
  Status (*prepare)(Shell& shell, Json& args) = nullptr;  // before the operation is asked for
};

// Every command of this release, in the order help shows them.
const std::vector<Command>& all_commands();

// Options that every command takes, wherever they stand.
const std::vector<Option>& global_options();

// The command of an operation; `run` asks for it.
Command command_of(const ops::Operation& operation);

// A command line, read.
struct Line {
  const Command* command = nullptr;  // none: help or version
  std::vector<std::string> path;     // the words that name a command or a group of them, for help
  std::vector<std::string> words;    // its arguments
  std::vector<std::pair<std::string_view, std::string>> options;  // by long name, global ones too, in order

  bool has(std::string_view option) const;
  std::optional<std::string> value(std::string_view option) const;  // the last one counts
  std::vector<std::string> values(std::string_view option) const;   // all of them, in order
  // The value as a whole number; `invalid` names the option and the range.
  Result<std::optional<std::int64_t>> number(std::string_view option, std::int64_t min,
                                             std::int64_t max) const;
};

// The arguments of a request for the line's operation. What is not of an argument's type stays a text, for
// the check to refuse. `directory` is where the command was called, an absolute path.
Json request_arguments(const Line& line, const std::string& directory);

// Reads the arguments after the program's name. `invalid` when they are not understood, saying what was
// probably meant. Asked for help or the version, the rest is not checked.
Result<Line> read_arguments(const std::vector<std::string>& arguments);

// The commands that matter and the names of the others; every command with a line each; the page of a command
// or of a group of commands, `invalid` when there is none of that name.
std::string overview(const Screen& screen);
std::string full_overview(const Screen& screen);
Result<std::string> help_page(const std::vector<std::string>& path, const Screen& screen);

// "cairn sessions list [--limit N]"
std::string usage(const Command& command);

}  // namespace cairn::cli
