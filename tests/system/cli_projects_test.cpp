// Projects that are linked, taken apart and renamed from the command line.
#include <gtest/gtest.h>

#include "system/cli_home.h"

namespace cairn::test {
namespace {

class CliProjects : public CliHome {
 protected:
  // A session of one prompt in a directory below code/.
  void work(const std::string& name, const std::string& request) const {
    const std::string cwd = dir_ / ("code/" + name);
    std::filesystem::create_directories(cwd);
    const auto say = [&](const std::string& event, Json payload) {
      payload.set("session_id", "session-of-" + name);
      payload.set("cwd", cwd);
      payload.set("hook_event_name", event);
      EXPECT_EQ(call(kHook, {event}, payload.dump()).exit_code, 0);
    };
    say("SessionStart", Json::object({{"source", "startup"}}));
    say("UserPromptSubmit", Json::object({{"prompt", request}, {"prompt_id", "p-" + name}}));
    say("Stop", Json::object({{"last_assistant_message", "Finished: " + request}}));
    say("SessionEnd", Json::object({{"reason", "other"}}));
    json({"process", "--wait"});
  }
  std::size_t found(const std::string& project) const {
    return json({"search", "boat", "--project", project, "--kind", "prompt"})["results"].items().size();
  }
};

TEST_F(CliProjects, AreReadAsOneWhileTheyAreLinked) {
  work("harbour", "paint the boat");
  work("yard", "build the boat");
  EXPECT_EQ(found("harbour"), 1u);
  const Json linked = json({"projects", "link", "harbour", "yard"});
  EXPECT_TRUE(linked["changed"].as_bool()) << linked.dump();
  EXPECT_EQ(found("harbour"), 2u);
  EXPECT_EQ(found("yard"), 2u);
  EXPECT_EQ(json({"sessions", "list", "--project", "yard"})["sessions"].items().size(), 2u);
  EXPECT_EQ(json({"stats", "--project", "yard"})["sessions"].as_int(), 2);
  EXPECT_NE(cairn({"context", "--project", "yard"}).out.find("paint the boat"), std::string::npos);
  EXPECT_NE(cairn({"projects", "list"}).out.find("yard is linked with harbour"), std::string::npos);
  EXPECT_NE(cairn({"projects", "show", "yard"}).out.find("linked with"), std::string::npos);
  const Json shown = json({"projects", "show", "yard"});
  EXPECT_EQ(shown["sessions"].as_int(), 1) << "each keeps its own";
  EXPECT_EQ(shown["history"].items().size(), 1u) << shown.dump(1);

  EXPECT_EQ(cairn({"projects", "unlink", "yard"}).out, "yard has no links\n");
  EXPECT_EQ(found("harbour"), 1u);
  EXPECT_EQ(cairn({"projects", "unlink", "yard", "harbour"}).exit_code, 3);
}

TEST_F(CliProjects, CanBeRenamedAndAreFoundByTheirOldName) {
  work("harbour", "paint the boat");
  work("yard", "build the boat");
  EXPECT_EQ(cairn({"projects", "rename", "harbour", "port"}).out, "harbour is named port now\n");
  EXPECT_EQ(found("port"), 1u);
  EXPECT_EQ(found("harbour"), 1u);
  EXPECT_NE(cairn({"projects", "rename", "port", "yard"}).exit_code, 0);
  EXPECT_EQ(cairn({"projects", "rename", "nowhere", "x"}).exit_code, 3);
  EXPECT_EQ(cairn({"projects", "link", "port", "nowhere"}).exit_code, 3);
  EXPECT_EQ(cairn({"projects", "link", "port", "port"}).exit_code, 2);
}

}  // namespace
}  // namespace cairn::test
