// Our server in the host's list, and the permissions of its tools: added and removed without any other
// change.
#include <gtest/gtest.h>

#include "cli/install.h"
#include "mcp/tools.h"
#include "unit/install_fixture.h"

namespace cairn::cli {
namespace {

constexpr const char* kProgram = "/home/dev/.local/bin/cairn";

// The file that holds the host's state too, as the host writes it.
constexpr std::string_view kState = R"json({
  "numStartups": 7,
  "oauthAccount": { "emailAddress": "dev@example.org" },
  "mcpServers": {
    "other": {
      "type": "stdio",
      "command": "/usr/bin/other"
    }
  },
  "projects": {}
})json";

class InstallServers : public testing::Test, protected Host {
 protected:
  InstallServers() : Host(disk_, "/home/dev/.claude.json") {}
  const host::Entries& servers() { return hooks().servers(); }
  Status add(const std::string& program = kProgram) {
    return apply_install(disk_, TRY(plan_install(servers(), disk_, file_, {program, true})));
  }
  Status take_away() { return apply_install(disk_, TRY(plan_uninstall(servers(), disk_, file_))); }

  MemoryDisk disk_;
};

TEST_F(InstallServers, ChangesNothingElseAndNothingTheSecondTime) {
  write(kState);
  ASSERT_TRUE(add().ok());
  const Json entry = json()["mcpServers"]["cairn"];
  EXPECT_EQ(entry.dump(),
            R"({"type":"stdio","command":"/home/dev/.local/bin/cairn","args":["mcp"],"env":{}})");
  EXPECT_EQ(json()["mcpServers"]["other"]["command"].as_string(), "/usr/bin/other");
  EXPECT_EQ(json()["numStartups"].as_int(), 7);
  const std::string once = text();
  ASSERT_TRUE(add().ok());
  EXPECT_EQ(text(), once);
}

TEST_F(InstallServers, GivesTheOriginalBytesBack) {
  for (const std::string_view original :
       {kState, std::string_view("{}"), std::string_view("{\n}\n"), std::string_view("{\"mcpServers\":{}}"),
        std::string_view("{\n  \"a\": 1\n}"), std::string_view("{\"a\":1,\"mcpServers\":{ },\"b\":2}\n")}) {
    write(original);
    ASSERT_TRUE(add().ok()) << original;
    EXPECT_EQ(servers().count(text()), 1u);
    ASSERT_TRUE(take_away().ok()) << original;
    EXPECT_EQ(text(), original);
  }
}

TEST_F(InstallServers, TakesAwayOnlyItsOwnAfterTheHostWroteTheFile) {
  write(kState);
  ASSERT_TRUE(add().ok());
  std::string changed = text();
  changed.replace(changed.find("7"), 1, "8");
  write(changed);
  ASSERT_TRUE(take_away().ok());
  std::string expected(kState);
  expected.replace(expected.find("7"), 1, "8");
  EXPECT_EQ(text(), expected);
}

TEST_F(InstallServers, FollowsAMovedProgramAndKeepsWhatTheUserAdded) {
  write(R"({"mcpServers":{"cairn":{"command":"/old/cairn","args":["mcp","--cwd","/x"],"alwaysLoad":true}}})");
  ASSERT_TRUE(add().ok());
  EXPECT_EQ(json()["mcpServers"]["cairn"]["command"].as_string(), kProgram);
  EXPECT_EQ(json()["mcpServers"]["cairn"]["args"].items().size(), 3u);
  EXPECT_TRUE(json()["mcpServers"]["cairn"]["alwaysLoad"].as_bool());
}

TEST_F(InstallServers, LeavesAServerOfThatNameThatIsNotOurs) {
  const std::string theirs = R"({"mcpServers":{"cairn":{"command":"/usr/bin/stones"}}})";
  write(theirs);
  const Status refused = add();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("another name"), std::string::npos);
  ASSERT_TRUE(take_away().ok());
  EXPECT_EQ(text(), theirs);
}

TEST_F(InstallServers, RefusesAFileOfAnotherShape) {
  for (const char* bad : {"[]", "{\"mcpServers\":[]}", "{\"mcpServers\":null}", "{"}) {
    write(bad);
    EXPECT_FALSE(add().ok()) << bad;
    EXPECT_EQ(text(), bad);
  }
}

// A tool that only reads needs no question, and no other does without one.
TEST_F(InstallServers, TheSettingsAllowTheToolsThatOnlyRead) {
  class Nothing final : public mcp::Memory {
    Result<Json> call(std::string_view, const Json&, const std::function<bool()>&) override { return Json(); }
  } nothing;
  const mcp::Tools tools(nothing, {});
  std::vector<std::string> reading;
  for (const Json& tool : tools.definitions().items())
    if (tool["annotations"]["readOnlyHint"].as_bool())
      reading.push_back("mcp__cairn__" + std::string(tool["name"].as_string()));
  EXPECT_EQ(hooks().allowed_tools(), reading);
}

TEST_F(InstallServers, PermissionsJoinThoseOfTheUserAndLeaveThemBehind) {
  for (const std::string_view original :
       {std::string_view("{}"), std::string_view("{\"permissions\":{}}"),
        std::string_view("{\"permissions\":{\"allow\":[]}}"),
        std::string_view("{\"permissions\": {\"allow\": [\"Read\"], \"deny\": []}}"),
        std::string_view("{\n  \"permissions\": {\n    \"deny\": [\n      \"Read\"\n    ]\n  }\n}\n"),
        std::string_view("{\"permissions\":{\"allow\":[\"mcp__cairn__get\",\"Read\"]}}")}) {
    const std::string with = hooks().with_ours(std::string(original), {kHook, true}).value();
    std::size_t allowed = 0;
    const Json settings = Json::parse(with).value_or(Json());
    for (const Json& rule : settings["permissions"]["allow"].items())
      allowed += rule.as_string().starts_with("mcp__cairn__");
    EXPECT_EQ(allowed, 4u) << with;
    EXPECT_EQ(hooks().with_ours(with, {kHook, true}).value(), with);
    EXPECT_EQ(hooks().without_ours(with, std::string(original)).value(), original);
  }
}

TEST_F(InstallServers, ARuleForTheWholeServerIsEnough) {
  const std::string with =
      hooks().with_ours("{\"permissions\":{\"allow\":[\"mcp__cairn__*\"]}}", {kHook, true}).value();
  EXPECT_EQ(with.find("mcp__cairn__search"), std::string::npos);
}

}  // namespace
}  // namespace cairn::cli
