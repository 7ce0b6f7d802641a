// A home of a test's own, with a project beside it, and `cairn` called in it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "support/process.h"
#include "support/temp_dir.h"
#include "support/wait.h"

namespace cairn::test {

inline const std::string kCairn = std::string(CAIRN_BIN_DIR) + "/cairn";
inline const std::string kHook = std::string(CAIRN_BIN_DIR) + "/cairn-hook";

// Stops its daemon at the end.
class CliHome : public testing::Test {
 protected:
  CliHome() { std::filesystem::create_directories(project()); }
  ~CliHome() override { cairn({"daemon", "stop"}); }

  std::string home() const { return dir_ / "home"; }
  std::string project() const { return dir_ / "code/proj"; }
  std::string claude() const { return dir_ / "claude"; }

  std::vector<std::string> environment() const {
    const char* path = std::getenv("PATH");
    return {"PATH=" + std::string(path ? path : "/usr/bin:/bin"),
            "HOME=" + dir_.path(),
            "CAIRN_HOME=" + home(),
            "CLAUDE_CONFIG_DIR=" + claude(),
            "LANG=C.UTF-8",
            "TZ=UTC"};
  }

  Outcome call(const std::string& program, std::vector<std::string> arguments, std::string input = {},
               std::vector<std::string> more = {}) const {
    arguments.insert(arguments.begin(), program);
    Program run_this{.argv = std::move(arguments),
                     .env = environment(),
                     .clean_env = true,
                     .cwd = project(),
                     .input = std::move(input)};
    run_this.env.insert(run_this.env.end(), more.begin(), more.end());
    run_this.timeout = std::chrono::seconds(60);
    return run(run_this);
  }
  Outcome cairn(std::vector<std::string> arguments, std::string input = {}) const {
    return call(kCairn, std::move(arguments), std::move(input));
  }

  // What a command that must succeed prints with --json.
  Json json(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    const Outcome outcome = cairn(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    auto value = Json::parse(outcome.out);
    EXPECT_TRUE(value.ok()) << outcome.out;
    return value ? *std::move(value) : Json();
  }

  // One event of a session, as the host would deliver it.
  void deliver(const std::string& event, Json payload,
               const std::string& session = "11111111-2222-4333-8444-555555555555") const {
    payload.set("session_id", session);
    payload.set("cwd", project());
    payload.set("hook_event_name", event);
    payload.set("transcript_path", dir_ / "transcript.jsonl");
    const Outcome outcome = call(kHook, {event}, payload.dump());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    EXPECT_EQ(outcome.err, "");
  }
  // A session of one prompt, from start to end.
  void play_session() const {
    deliver("SessionStart", Json::object({{"source", "startup"}}));
    deliver("UserPromptSubmit",
            Json::object({{"prompt", "Fix the lexer so that 記憶 is one token"}, {"prompt_id", "p-1"}}));
    deliver("PostToolUse",
            Json::object({{"tool_name", "Edit"},
                          {"tool_use_id", "toolu_1"},
                          {"prompt_id", "p-1"},
                          {"tool_input", Json::object({{"file_path", project() + "/lexer.cpp"},
                                                       {"old_string", "a"},
                                                       {"new_string", "b"}})},
                          {"tool_response", Json::object({{"filePath", project() + "/lexer.cpp"}})}}));
    deliver("Stop",
            Json::object({{"prompt_id", "p-1"},
                          {"last_assistant_message", "The lexer now reads wide words as one token."}}));
    deliver("SessionEnd", Json::object({{"reason", "other"}}));
  }

  TempDir dir_{"cairn-cli"};
};

}  // namespace cairn::test
