// The memory follows its repository, in the real host: through `git init` and a rename.
#include <gtest/gtest.h>

#include <filesystem>

#include "host/claude.h"

namespace cairn::test {
namespace {

class Identity : public HostTest {
 protected:
  // One session in `directory` whose model does `turns`; what hooks gave to it.
  std::string session(std::string_view script, std::string_view request, const std::string& directory,
                      Json::Array turns) {
    machine.script(script, std::move(turns));
    last = machine.prompt(script, request, {}, directory);
    EXPECT_FALSE(last.failed) << last.outcome.describe();
    expect_valid_answer(last);
    const auto requests = machine.requests(script);
    return requests.empty() ? "" : requests[0].injected();
  }
  // What the session's start said to the user.
  std::string notice() const {
    for (const HookReply& hook : last.hooks)
      if (hook.event == "SessionStart")
        if (const auto reply = Json::parse(hook.out))
          return std::string((*reply)["systemMessage"].as_string());
    return "";
  }

  Session last;
};

constexpr const char* kCommit = "git add -A && git -c user.name=d -c user.email=d@d commit -qm first";

TEST_F(Identity, AFirstTrialWithGitInitIsRememberedByTheSecondSession) {
  const std::string trial = machine.path("code/trial");
  std::filesystem::create_directories(trial);
  session("first", "Please start a tea timer here", trial,
          {bash("git init -q ."),
           call("Write",
                Json::object({{"file_path", trial + "/timer.sh"}, {"content", "sleep 180; echo tea\n"}})),
           bash(kCommit), say("The tea timer is committed. Next: a bell.")});
  const std::string given = session("second", "What now?", trial, {say("A bell.")});
  EXPECT_NE(given.find("The tea timer is committed"), std::string::npos) << given;
  EXPECT_NE(notice().find("became a repository"), std::string::npos) << notice();
  session("third", "And now?", trial, {say("Sugar.")});
  EXPECT_EQ(notice().find("became a repository"), std::string::npos) << notice();
  const Json projects = machine.cairn_json({"projects", "list"})["projects"];
  EXPECT_EQ(projects.items().size(), 1u) << projects.dump(1);
}

TEST_F(Identity, ARenamedRepositoryTakesItsMemoryAlong) {
  const std::string before = machine.path("code/kettle"), after = machine.path("code/teapot");
  std::filesystem::create_directories(before);
  session("first", "Please start the kettle", before,
          {bash(std::string("git init -q . && echo water > kettle.txt && ") + kCommit),
           say("The kettle has water.")});
  machine.process_and_check();
  std::filesystem::rename(before, after);
  const std::string given = session("second", "What now?", after, {say("Tea.")});
  EXPECT_NE(given.find("The kettle has water."), std::string::npos) << given;
  EXPECT_NE(notice().find("moved here"), std::string::npos) << notice();
  const Json shown = machine.cairn_json({"projects", "show", "teapot"});
  EXPECT_EQ(shown["sessions"].as_int(), 2) << shown.dump(1);
}

}  // namespace
}  // namespace cairn::test
