// The commands of the plugin and of `cairn install`: one source, few words for the model, only commands that
// exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "cli/command.h"
#include "cli/command_table.h"
#include "host/commands.h"
#include "support/temp_dir.h"

namespace cairn::cli {
namespace {

const std::string kPlugin = std::string(CAIRN_TESTS_DIR) + "/../plugin/";

TEST(PluginFiles, TheSixCommandsAreAsTheProgramInstallsThem) {
  const auto files = host::command_files("claude-code");
  EXPECT_EQ(std::count_if(files.begin(), files.end(), [](const auto& file) { return file.for_people; }), 6);
  for (const host::CommandFile& file : files) {
    if (std::getenv("CAIRN_UPDATE_DOCS")) {
      std::filesystem::create_directories(std::filesystem::path(kPlugin + file.plugin).parent_path());
      std::ofstream(kPlugin + file.plugin) << file.plugin_text;
    }
    EXPECT_EQ(test::read_text(kPlugin + file.plugin), file.plugin_text)
        << "run cli_test with CAIRN_UPDATE_DOCS=1";
    EXPECT_NE(file.path.find("cairn-"), std::string::npos);
    EXPECT_NE(file.text.find(host::kCommandMark), std::string::npos);
    const std::string_view who =
        file.for_people ? "disable-model-invocation: true\n" : "user-invocable: false\n";
    EXPECT_NE(file.text.find(who), std::string::npos) << file.path;
    EXPECT_NE(file.text.find("\nallowed-tools: Bash(cairn"), std::string::npos)
        << "no question: " << file.path;
    EXPECT_EQ(file.text.find("$LONG"), std::string::npos);
  }
  EXPECT_TRUE(host::command_files("another").empty());
}

// Only what the model may call by itself is listed to it.
TEST(PluginFiles, WhatTheHostListsToTheModelIsAtMostTwoHundredTokens) {
  std::string listed;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kPlugin)) {
    if (entry.path().extension() != ".md" || entry.path().filename() == "README.md") continue;
    const std::string text = test::read_text(entry.path().string());
    const std::string front = text.substr(0, text.find("\n---\n"));
    if (front.find("disable-model-invocation: true") == std::string::npos) listed += front;
  }
  EXPECT_FALSE(listed.empty());
  EXPECT_LE(estimate_tokens(listed), 200u) << listed;
}

// What runs in a context of its own reads with cairn's own commands and changes no file.
TEST(PluginFiles, CoalesceAndALongResumeRunApartWithFewTools) {
  std::size_t apart = 0;
  for (const host::CommandFile& file : host::command_files("claude-code")) {
    if (file.text.find("\ncontext: fork\n") == std::string::npos) continue;
    ++apart;
    EXPECT_NE(file.text.find("\ndisallowed-tools: Edit, Write,"), std::string::npos) << file.path;
    EXPECT_EQ(file.text.find("Bash(cairn:*)"), std::string::npos)
        << "only the commands it needs: " << file.path;
  }
  EXPECT_EQ(apart, 2u);
}

TEST(PluginFiles, EveryCommandThatABodyNamesExists) {
  std::size_t found = 0;
  for (const host::CommandFile& file : host::command_files("claude-code"))
    for (std::size_t at = file.text.find("`cairn "); at != std::string::npos;
         at = file.text.find("`cairn ", at + 1)) {
      const std::string line = file.text.substr(at + 7, file.text.find('`', at + 1) - at - 7);
      std::string name;
      bool known = false;
      for (const std::string_view word : split(line, ' ')) {
        name += (name.empty() ? "" : " ") + std::string(word);
        known = known || find_command(name) != nullptr;
      }
      EXPECT_TRUE(known) << file.path << ": cairn " << line;
      ++found;
    }
  EXPECT_GE(found, 8u);
}

}  // namespace
}  // namespace cairn::cli
