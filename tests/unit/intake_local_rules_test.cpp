// .cairn.toml of a repository, and projects that are not recorded.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "intake/local_rules.h"
#include "intake/place.h"
#include "support/temp_dir.h"

namespace cairn::intake {
namespace {

class LocalRulesTest : public testing::Test {
 protected:
  LocalRulesTest() {
    std::filesystem::create_directories(root() + "/.git/refs"), put("/.git/HEAD", "ref: refs/heads/main\n");
    std::filesystem::create_directories(root() + "/src/deep");
  }

  std::string root() const { return dir.path() + "/repo"; }
  void put(const std::string& name, std::string_view text) {
    std::ofstream(root() + name, std::ios::trunc) << text;
    timespec times[2] = {{0, UTIME_OMIT}, {1'700'000'000 + ++second, 0}};
    utimensat(AT_FDCWD, (root() + name).c_str(), times, 0);
  }
  std::string refused(const gate::FindLocalRules& local, std::string tool, std::string file) {
    event::Event event;
    event.kind = event::Kind::tool;
    event.cwd = root() + "/src/deep";
    event.tool_name = std::move(tool);
    event.tool_input = Json::object({{"file_path", file}});
    const auto verdict = gate::Gate({{}, {}, {}, local}).pass(std::move(event), 1000);
    const auto* refusal = std::get_if<gate::Refusal>(&verdict);
    return refusal ? refusal->reason : "";
  }

  test::TempDir dir;
  os::RealDisk disk;
  int second = 0;
};

TEST_F(LocalRulesTest, AFileAtTheRootNarrowsWhatComesInAndIsReadAgainWhenItChanges) {
  const auto local = find_local_rules(disk, {});
  EXPECT_EQ(refused(local, "Read", "a.txt"), "");
  put("/.cairn.toml", "exclude = [\"vault/**\"]\nskip_tools = [\"mcp__*\"]\n");
  EXPECT_EQ(refused(local, "Read", "a.txt"), "");
  EXPECT_EQ(refused(local, "Read", "/x/vault/a"), root() + "/.cairn.toml exclude \"vault/**\"");
  EXPECT_EQ(refused(local, "mcp__db", "a.txt"), root() + "/.cairn.toml skip_tools \"mcp__*\"");
  put("/.cairn.toml", "capture = false\n");
  EXPECT_EQ(refused(local, "Read", "a.txt"), root() + "/.cairn.toml says capture = false");
  std::filesystem::remove(root() + "/.cairn.toml");
  EXPECT_EQ(refused(local, "mcp__db", "/x/vault/a"), "");
}

TEST_F(LocalRulesTest, AFileThatNobodyCanReadKeepsEverythingOut) {
  const auto local = find_local_rules(disk, {});
  for (const char* bad : {"exclude = [", "\xff\xfe", "capture = \xc3\xa4"}) {
    put("/.cairn.toml", bad);
    EXPECT_EQ(refused(local, "Read", "a.txt"), root() + "/.cairn.toml is not TOML") << bad;
  }
}

TEST_F(LocalRulesTest, TheNamesOfTheSettingsAreUnderstoodToo) {
  for (const char* text : {"exclude = \"./vault/**\"\nskip-tools = [\"mcp__*\"]\n",
                           "[capture]\nexclude = [\"vault/**\"]\nskip_tools = [\"mcp__*\"]\n",
                           "capture.exclude = [\"./vault/**\"]\ncapture.skip_tools = \"mcp__*\"\n"}) {
    const gate::LocalRules rules = read_local_rules(text, "f");
    EXPECT_EQ(rules.off, "");
    EXPECT_EQ(rules.exclude, (std::vector<std::string>{"vault/**"})) << text;
    EXPECT_EQ(rules.skip_tools, (std::vector<std::string>{"mcp__*"})) << text;
  }
  EXPECT_EQ(read_local_rules("capture.enabled = false", "f").off, "f says enabled = false");
}

TEST_F(LocalRulesTest, AFileThatCannotBeParsedKeepsEverythingOut) {
  using Said = std::pair<std::string, std::string>;
  for (const auto& [text, name] :
       {Said("capture = \"off\"", "capture"), Said("capture = 0", "capture"), Said("exclude = 7", "exclude"),
        Said("exclude = [\"a\", 7]", "exclude"), Said("[skip_tools]\na = 1", "skip_tools"),
        Said("[capture]\nenabled = \"no\"", "capture.enabled")})
    EXPECT_EQ(read_local_rules(text, "f").off, "f: " + name + " is not understood") << text;
}

TEST_F(LocalRulesTest, ItCanOnlyNarrow) {
  const gate::LocalRules rules = read_local_rules(
      "capture = true\n[agent]\nprovider = \"openai\"\nendpoint = \"http://evil.test\"\n[capture_x]\nexclude "
      "= [\"a\"]\n",
      "f");
  EXPECT_EQ(rules.off, "");
  EXPECT_TRUE(rules.exclude.empty());
  EXPECT_TRUE(rules.skip_tools.empty());
}

TEST_F(LocalRulesTest, AProjectThatIsOffIsOffInAllItsDirectories) {
  const auto local = find_local_rules(disk, {resolve_place(disk, "", root()).key});
  EXPECT_EQ(refused(local, "Read", "a.txt"), "capture is off for this project");
  EXPECT_EQ(local("", dir.path()).off, "");
}

}  // namespace
}  // namespace cairn::intake
