// The real Claude Code on a machine of its own: a home, a project under git, a scripted model, a CAIRN_HOME.
// Nothing of the developer's environment reaches it and nothing of it is left behind.
//
// The CLI is $CAIRN_TEST_CLAUDE, else the one that scripts/fetch_claude_code installs. Without it every test
// fails: a suite that skips itself proves nothing.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace cairn::test {

// A turn of the scripted model: a text, or a tool call with an optional text before it. Other parts of a
// reply (delay_ms, fail, hang, cut: see messages_api.mjs) are set on the result.
Json say(std::string_view text);
Json call(std::string_view tool, Json input, std::string_view text = {});
Json bash(std::string_view command);

// One request that reached the model.
struct ModelRequest {
  std::string script;
  std::string session;
  std::string text;    // everything that the model reads, at any place of the request
  std::string answer;  // which turn answered it
  Json body;

  bool has(std::string_view words) const { return text.find(words) != std::string::npos; }
  std::size_t count(std::string_view words) const;
  // Only what hooks gave to the model: the host's own texts name changed files too (its git status).
  std::string injected() const;
};

// What the host saw of one hook.
struct HookReply {
  std::string event;
  std::string out;
  std::string err;
  int exit_code = -1;
  std::string outcome;  // "success", "cancelled"...
};

// One `claude -p` that has ended.
struct Session {
  Outcome outcome;
  std::string id;
  std::string result;  // the model's last words
  bool failed = true;
  std::vector<HookReply> hooks;  // all but SessionEnd, which the host does not report
};

class HostMachine {
 public:
  // What keeps the machine from starting (no CLI, no node...), or empty.
  std::string start();
  ~HostMachine();

  const std::string& project() const { return project_; }
  const std::string& cairn_home() const { return cairn_home_; }
  std::string config_dir() const { return dir_ / "config"; }
  // The directory with the host's program.
  std::string claude_dir() const { return claude_.substr(0, claude_.rfind('/')); }
  std::string path(std::string_view below) const { return dir_ / below; }

  // Gives script `name` its turns (and rules, see messages_api.mjs). Before the first request that uses it.
  void script(std::string_view name, Json::Array turns, Json::Array rules = {});
  // The requests answered from a script so far, those without tools left out.
  std::vector<ModelRequest> requests(std::string_view script_name) const;
  // Waits until that many have come.
  bool wait_for_requests(std::string_view script_name, std::size_t count) const;

  // `claude -p` with all hooks reported, in the project or in `cwd`.
  Program prompt_program(std::string_view script_name, std::string_view text,
                         std::vector<std::string> flags = {}, std::string_view cwd = {}) const;
  Session prompt(std::string_view script_name, std::string_view text, std::vector<std::string> flags = {},
                 std::string_view cwd = {}) const;
  static Session read_session(const Outcome& outcome);

  // The environment of every program here, `script` chosen for the model.
  std::vector<std::string> environment(std::string_view script_name) const;
  Outcome run_here(std::vector<std::string> argv, std::string input = {}) const;

  Outcome cairn(std::vector<std::string> arguments) const;
  // The report of a command with --json; null, and a failure of the test, when it is none.
  Json cairn_json(std::vector<std::string> arguments) const;
  // Takes in what waits in the inbox and works the queue to its end, then checks the ledger: nothing waits,
  // every delivered event was read, no gap. Gives the number of delivered events.
  std::int64_t process_and_check() const;
  // The row of `cairn sessions list` that names `id`; null when there is none.
  Json session_row(std::string_view id) const;
  // `cairn install` for this machine's Claude Code.
  void install_cairn() const;

  // The pids of the daemons of this home; more than one is a defect.
  std::vector<pid_t> daemons() const;
  // Every process that was started for this home and still runs, but the host itself.
  std::vector<pid_t> cairn_processes() const;
  void kill_daemon() const;

 private:
  void write_host_settings() const;

  TempDir dir_{"cairn-host"};
  std::string claude_;
  std::string project_;
  std::string cairn_home_;
  int port_ = 0;
  std::unique_ptr<Background> api_;
};

// The TUI in a tmux server of its own. Destroyed with it. Permissions are skipped, but with the flags
// "--permission-mode", "plan" they are asked for.
class Tui {
 public:
  Tui(const HostMachine& machine, std::string_view script_name, std::vector<std::string> flags = {});
  ~Tui();

  // Types a line and Enter.
  void enter(std::string_view line);
  // A key by its tmux name: "Escape", "C-c".
  void key(std::string_view name);
  std::string screen() const;
  bool shows(std::string_view text, std::chrono::milliseconds timeout = std::chrono::seconds(15)) const;

 private:
  Outcome tmux(std::vector<std::string> arguments) const;

  std::string socket_;
  std::unique_ptr<Background> server_;
};

// A test on a machine with cairn installed. At its end there is at most one daemon, it stops when asked, and
// no process of this home is left.
class HostTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  HostMachine machine;
};

// Checks what every hook must do: print one JSON object, exit with code 0, write nothing to stderr.
void expect_valid_answer(const Session& session);

}  // namespace cairn::test
