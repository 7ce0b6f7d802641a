// The real cairn-hook in a home of its own, beside a `cairn` that only notes that it was started.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/json.h"
#include "hook/control.h"
#include "hook/envelope.h"
#include "hook/flags.h"
#include "hook/home.h"
#include "os/disk.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace cairn::test {

inline const std::string kFixedLine = std::string(hook::kFixedAnswer) + "\n";

class HookTest : public testing::Test {
 protected:
  HookTest() {
    write_file(hook_, read_text(CAIRN_BIN_DIR "/cairn-hook"));
    EXPECT_EQ(chmod(hook_.c_str(), 0700), 0);
  }

  // Puts a `cairn` beside the hook: a shell script that runs `body`.
  void provide_cairn(const std::string& body) {
    write_file(dir_ / "bin/cairn", "#!/bin/sh\n" + body + "\n");
    EXPECT_EQ(chmod((dir_ / "bin/cairn").c_str(), 0700), 0);
  }

  Program program(std::vector<std::string> arguments, std::string input = "{}") {
    Program p;
    p.argv = {hook_};
    p.argv.insert(p.argv.end(), arguments.begin(), arguments.end());
    p.env = {"CAIRN_HOME=" + home_.data, "PATH=/usr/bin:/bin", "HOME=" + (dir_ / "user")};
    p.clean_env = true;
    p.input = std::move(input);
    return p;
  }

  // The hook below a shell that runs `command`, in which "$HOOK" is the hook.
  Program shell(const std::string& command, std::string input = "{}") {
    Program p = program({}, std::move(input));
    p.argv = {"sh", "-c", command};
    p.env.push_back("HOOK=" + hook_);
    return p;
  }

  void set_flags(const hook::Flags& flags) { write_file(home_.flags(), flags.encode()); }

  std::vector<std::string> names(const std::string& folder) {
    auto list = os::RealDisk().list(home_.inbox() + "/" + folder).value_or({});
    std::sort(list.begin(), list.end());
    return list;
  }

  // The bytes of the only event in the inbox.
  std::string only_event() {
    const auto list = names("new");
    EXPECT_EQ(list.size(), 1u);
    return list.empty() ? std::string() : read_text(home_.inbox() + "/new/" + list[0]);
  }

  static void expect_fixed(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    EXPECT_EQ(outcome.out, kFixedLine);
    EXPECT_EQ(outcome.err, "");
    EXPECT_FALSE(outcome.pipes_held);
  }

  // The fixed answer with a line for the user that holds `part`, and all the rest as usual.
  static void expect_broken(const Outcome& outcome, std::string_view part) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    EXPECT_EQ(outcome.err, "");
    const auto answer = Json::parse(outcome.out);
    ASSERT_TRUE(answer.ok()) << outcome.out;
    EXPECT_TRUE((*answer)["continue"].as_bool());
    const std::string said((*answer)["systemMessage"].as_string());
    EXPECT_TRUE(said.starts_with("cairn: ") && said.ends_with("; run `cairn doctor`")) << said;
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }

  ~HookTest() override { unlink(home_.failed_outside().c_str()); }

  TempDir dir_{"hook"};
  const hook::Home home_ = hook::Home::at(dir_ / "home");
  const std::string hook_ = dir_ / "bin/cairn-hook";
};

}  // namespace cairn::test
