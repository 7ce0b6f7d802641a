// A home with the real cairn and cairn-hook, and the daemon that they start. Nothing of it is left when the
// test ends.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/json.h"
#include "hook/control.h"
#include "hook/home.h"
#include "os/disk.h"
#include "os/lock.h"
#include "support/process.h"
#include "support/temp_dir.h"
#include "support/wait.h"

namespace cairn::test {

using namespace std::chrono_literals;

class HomeTest : public testing::Test {
 protected:
  ~HomeTest() override {
    for (const pid_t pid : daemons()) {
      ::kill(pid, SIGCONT);
      ::kill(pid, SIGKILL);
    }
    wait_until([this] { return daemons().empty(); }, 5s);
    unlink(home_.failed_outside().c_str());
  }

  Program program(const std::string& name, std::vector<std::string> arguments, std::string input = "") {
    Program p;
    p.argv = {bin_ + "/" + name};
    p.argv.insert(p.argv.end(), arguments.begin(), arguments.end());
    p.env = {"CAIRN_HOME=" + home_.data, "PATH=/usr/bin:/bin", "HOME=" + (dir_ / "user")};
    p.clean_env = true;
    p.cwd = project_;
    p.input = std::move(input);
    return p;
  }

  Outcome cairn(std::vector<std::string> arguments) { return run(program("cairn", std::move(arguments))); }

  // The result of a command that prints JSON.
  Json json(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    const Outcome outcome = cairn(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    auto parsed = Json::parse(outcome.out);
    EXPECT_TRUE(parsed.ok()) << outcome.out;
    return parsed ? *parsed : Json();
  }

  // The payload of an event of `session`, with `more` members.
  std::string payload(const std::string& session, const Json& more = Json::object()) const {
    Json p =
        Json::object({{"session_id", session}, {"transcript_path", "/home/dev/t.jsonl"}, {"cwd", project_}});
    for (const auto& [key, value] : more.members()) p.set(key, value);
    return p.dump() + "\n";
  }

  Outcome hook(const std::string& event, const std::string& input) {
    return run(program("cairn-hook", {event}, input));
  }

  // One session from start to end that writes `file`.
  void play_session(const std::string& session, const std::string& prompt, const std::string& file) {
    const std::string path = project_ + "/" + file;
    hook("SessionStart", payload(session, Json::object({{"source", "startup"}})));
    hook("UserPromptSubmit",
         payload(session, Json::object({{"prompt", prompt}, {"prompt_id", session + "-p"}})));
    hook("PostToolUse",
         payload(session,
                 Json::object({{"prompt_id", session + "-p"},
                               {"tool_name", "Write"},
                               {"tool_use_id", session + "-t"},
                               {"tool_input", Json::object({{"file_path", path}, {"content", "x\n"}})},
                               {"tool_response", Json::object({{"type", "create"}})}})));
    hook("Stop", payload(session, Json::object({{"prompt_id", session + "-p"},
                                                {"last_assistant_message", "Wrote " + file + "."}})));
    hook("SessionEnd", payload(session, Json::object({{"reason", "other"}})));
  }

  std::vector<pid_t> daemons() {
    std::vector<pid_t> found;
    for (const pid_t pid : processes_with_env("CAIRN_HOME=" + home_.data))
      if (read_text("/proc/" + std::to_string(pid) + "/cmdline").find("daemon") != std::string::npos)
        found.push_back(pid);
    return found;
  }

  bool lock_is_held() { return os::FileLock::is_held(home_.lock()); }
  std::string log() { return read_text(home_.log_file()) + read_text(home_.log_file() + ".1"); }
  std::size_t waiting() { return os::RealDisk().list(home_.inbox() + "/new").value_or({}).size(); }

  // What the SessionStart of a new session is answered.
  Json start_answer(const std::string& session, const std::string& source = "startup") {
    const Outcome outcome = hook("SessionStart", payload(session, Json::object({{"source", source}})));
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    return Json::parse(outcome.out).value_or(Json());
  }
  static std::string context_of(const Json& answer) {
    return std::string(answer["hookSpecificOutput"]["additionalContext"].as_string());
  }

  TempDir dir_{"home"};
  const hook::Home home_ = hook::Home::at(dir_ / "home");
  const std::string project_ = [this] {
    write_file(dir_ / "proj/README", "a project\n");
    return dir_ / "proj";
  }();
  const std::string bin_ = CAIRN_BIN_DIR;
};

}  // namespace cairn::test
