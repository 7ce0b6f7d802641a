// What a command uses: its command line, the home, the screen, the daemon.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/render.h"
#include "hook/home.h"
#include "os/clock.h"
#include "os/disk.h"

namespace cairn::cli {

// The directory that a command is about: --cwd, else the current one.
std::string directory_of(const Line& line);

// Belongs to one thread.
class Shell {
 public:
  // `args`: of checked_arguments().
  Shell(os::Disk& disk, const Line& line, hook::Home home, Json args);

  const Line& line() const { return line_; }
  // The command's arguments, checked. flag(): whether that one is given.
  const Json& args() const { return args_; }
  bool flag(std::string_view name) const { return args_[name].as_bool(); }
  ops::Args checked() const { return {*line_.command->operation, args_}; }
  const hook::Home& home() const { return home_; }
  const Screen& screen() const { return screen_; }  // of stdout
  os::Disk& disk() { return disk_; }
  os::Clock& clock() { return clock_; }
  bool json() const { return line_.flag("json"); }

  // Writes to stdout; `note` a line to stderr.
  void print(std::string_view text) const;
  void note(std::string_view text) const;
  // Prints a result for programs.
  void print_json(const Json& value);
  bool has_printed_json() const { return printed_json_; }
  // Prints the page of an operation's result, or the result itself with --json. Gives the exit code.
  int show(const Page& page, const Json& result);

  // The daemon, started when none runs.
  Result<Client*> daemon();
  // Runs one operation in the daemon. Waits a minute; for a slow operation, until it has finished.
  Result<Json> ask(std::string_view op, const Json& args);

  // "5 min ago" of an ISO-8601 time; empty when it is none.
  std::string age(const Json& time);
  std::string directory() const { return directory_of(line_); }

  // Asks on the terminal. --yes answers yes. Without a terminal fails with `invalid`, naming --yes.
  Result<bool> confirm(std::string_view question) const;

 private:
  os::Disk& disk_;
  const Line& line_;
  const Json args_;
  hook::Home home_;
  Screen screen_;
  os::RealClock clock_;
  std::optional<Client> client_;
  bool printed_json_ = false;
};

// The text of a result's field; empty when it has none.
std::string text_of(const Json& value);
// " [output, web]": the sources of a result's text outside the project; empty when there are none.
std::string label_of(const Json& result);

// `cairn ARGUMENTS...`: parses, runs, prints errors. Returns the exit code.
int run(os::Disk& disk, int argc, char** argv);

}  // namespace cairn::cli
