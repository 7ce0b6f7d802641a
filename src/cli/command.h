// The commands of `cairn` as data: help, usage errors and parsing come from one table.
//
// A command is an operation (ops/operation.h), or is declared like one in cli/table.cpp: its name, arguments
// and help come from that declaration, and every command line is checked against it before anything starts.
// A command's name is its path of words ("sessions list").
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

// What a command prints for the result of its operation.
struct Page {
  std::string text;  // for stdout; with --json the result is printed instead
  int code = 0;      // the exit code
  std::string note;  // a line on stderr; with --json only when the code is not 0
};
using Render = Page (*)(Shell& shell, const Json& args, const Json& result);

struct Command {
  std::string name;                 // "sessions list"
  const ops::Operation* operation;  // its declaration
  Result<int> (*run)(Shell&);       // returns the exit code
  bool any_home = false;            // runs even when the home belongs to another user

  // For commands that request their operation.
  Render render = nullptr;
  Status (*prepare)(Shell& shell, Json& args) = nullptr;  // completes the arguments before the request

  // Its own options, without those of every command.
  std::vector<ops::Argument> options() const;
  // "ID [NAME]"; NAME... takes any number.
  std::string words() const;
};

// Every command of this release, in the order help shows them.
const std::vector<Command>& all_commands();

// Options that every command takes, at any position.
const std::vector<ops::Argument>& global_options();

// Requests the command's operation and prints its page.
Result<int> run_operation(Shell& shell);

// A parsed command line.
struct Line {
  const Command* command = nullptr;  // none: help or version
  std::vector<std::string> path;     // the words that name a command or a group of them, for help
  std::vector<std::string> words;    // its arguments
  // By the argument's name, global ones too, in order. A flag without a value is "true".
  std::vector<std::pair<std::string_view, std::string>> options;

  bool flag(std::string_view option) const;                         // whether it is given and true
  std::optional<std::string> value(std::string_view option) const;  // the last one wins
  std::vector<std::string> values(std::string_view option) const;   // all of them, in order
};

// Parses the arguments after the program's name. Fails with `invalid` and a suggestion. After a request for
// help or the version, the rest is not checked.
Result<Line> read_arguments(const std::vector<std::string>& arguments);

// The arguments of the line's command, as its declaration names them: the only way from what was typed to a
// request. `invalid` in the words of ops::Operation::check. `directory` is the current directory or --cwd, an
// absolute path.
Result<Json> checked_arguments(const Line& line, const std::string& directory);

// "--limit N", and what it means, for help and the manual page.
std::string option_label(const ops::Argument& option);
std::string option_meaning(const ops::Argument& option);

// overview(): the main commands and the names of the others. full_overview(): one line for every command.
// help_page(): a command or a group of commands; `invalid` when there is none of that name.
std::string overview(const Screen& screen);
std::string full_overview(const Screen& screen);
Result<std::string> help_page(const std::vector<std::string>& path, const Screen& screen);

// "cairn sessions list [--limit N]"
std::string usage(const Command& command);

}  // namespace cairn::cli
