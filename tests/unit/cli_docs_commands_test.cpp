// docs/reference/commands.md: summary, usage and arguments of each command come from the table of commands;
// the text below them is written by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>

#include "base/text.h"
#include "cli/command.h"
#include "ops/operation.h"
#include "support/temp_dir.h"

namespace cairn::cli {
namespace {

const std::string kCommandsPage = std::string(CAIRN_TESTS_DIR) + "/../docs/reference/commands.md";
constexpr std::string_view kCommandHeading = "### `cairn ", kGroupHeading = "## ";

std::string in_table(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

// "; 1 to 1000, 20 when not given": what a value must be, where the meaning does not say it.
std::string limits_of(const ops::Operation& operation, const ops::Argument& argument) {
  using Type = ops::Argument::Type;
  std::string text;
  if (argument.type == Type::choice && argument.label != argument.choices)
    text += "; " + ops::wanted(argument);
  const bool is_bounded = argument.max < std::numeric_limits<std::int64_t>::max();
  if (argument.type == Type::integer && is_bounded)
    text += "; " + std::to_string(argument.min) + " to " + std::to_string(argument.max);
  if (argument.fallback && *argument.fallback != 0)
    text += ", " + std::to_string(*argument.fallback) + " when not given";
  if (!argument.with.empty()) text += "; only with `" + operation.find(argument.with)->option() + "`";
  const auto alternatives = split(operation.one_of, ' ');
  const bool is_alternative =
      std::find(alternatives.begin(), alternatives.end(), argument.name) != alternatives.end();
  const auto typed = std::count_if(alternatives.begin(), alternatives.end(), [&](std::string_view name) {
    return !name.empty() && operation.find(name)->place != ops::Argument::Place::nowhere;
  });
  if (is_alternative && typed > 1) text += "; give exactly one of these";
  return text;
}

std::string row_of(const ops::Operation& operation, const ops::Argument& argument) {
  using Place = ops::Argument::Place;
  if (argument.place == Place::nowhere || argument.name == "cwd") return {};
  std::string name = argument.place == Place::option ? argument.option() : std::string(argument.label);
  if (!argument.short_name.empty()) name = std::string(argument.short_name) + "`, `" + name;
  if (argument.place == Place::words || argument.place == Place::text) name += "...";
  if (argument.place == Place::option && argument.type != ops::Argument::Type::flag)
    name += " " + std::string(argument.label);
  return "| `" + in_table(name) + "` | " +
         in_table(std::string(argument.meaning) + limits_of(operation, argument)) + " |\n";
}

std::string section_of(const Command& command) {
  std::string out = std::string(kCommandHeading) + std::string(command.name) + "`\n\n*" +
                    std::string(command.operation->summary) + "*\n\n    " + usage(command) + "\n";
  std::string rows, scope;  // the scope is the same for many commands: last
  for (const ops::Argument& argument : command.operation->arguments) {
    const bool is_scope = command.operation->scope != ops::Scope::none &&
                          (argument.name == "project" || argument.name == "all");
    (is_scope ? scope : rows) += row_of(*command.operation, argument);
  }
  rows += scope;
  if (!rows.empty()) out += "\n| argument | meaning |\n|---|---|\n" + rows;
  return out;
}

bool is_made(std::string_view line) {
  return trim(line).empty() || line.starts_with("|") || line.starts_with("    cairn ") ||
         (line.starts_with("*") && line.ends_with("*"));
}

// The page as it is: what comes before the first group of commands, and the text of each command.
struct WrittenPage {
  std::string head;
  std::map<std::string, std::string, std::less<>> texts;
};

WrittenPage read_commands_page(const std::string& page) {
  WrittenPage written;
  std::string* text = &written.head;
  bool begins = false;  // nothing written by hand was seen in this section yet
  for (const std::string_view line : lines(page)) {
    const auto& commands = all_commands();
    const bool is_group = std::any_of(commands.begin(), commands.end(), [&](const Command& command) {
      return line == std::string(kGroupHeading) + std::string(ops::group_title(command.operation->group));
    });
    if (is_group) continue;
    if (line.starts_with(kCommandHeading)) {
      const std::string_view rest = line.substr(kCommandHeading.size());
      text = &written.texts[std::string(rest.substr(0, rest.find('`')))];
      begins = true;
      continue;
    }
    if (begins && is_made(line)) continue;
    begins = false;
    text->append(line).append("\n");
  }
  return written;
}

// CAIRN_UPDATE_DOCS=1 writes the page instead of comparing it.
TEST(Docs, TheCommandsPageIsTheTableOfCommands) {
  const std::string page = test::read_text(kCommandsPage);
  const WrittenPage written = read_commands_page(page);
  std::string made = std::string(trim(written.head)) + "\n";
  ops::Group group = ops::Group::none;
  for (const Command& command : all_commands()) {
    if (command.operation->group != group)
      made +=
          "\n" + std::string(kGroupHeading) + std::string(ops::group_title(command.operation->group)) + "\n";
    group = command.operation->group;
    made += "\n" + section_of(command);
    const auto text = written.texts.find(command.name);
    if (text != written.texts.end() && !trim(text->second).empty())
      made += "\n" + std::string(trim(text->second)) + "\n";
  }
  for (const auto& text : written.texts) {
    const bool exists = std::any_of(all_commands().begin(), all_commands().end(),
                                    [&](const Command& command) { return command.name == text.first; });
    ASSERT_TRUE(exists) << "commands.md describes `cairn " << text.first << "`, which does not exist";
  }
  for (const ops::Argument& option : global_options())
    EXPECT_NE(written.head.find("`" + option.option()), std::string::npos) << option.name;
  if (std::getenv("CAIRN_UPDATE_DOCS")) {
    std::ofstream(kCommandsPage) << made;
    return;
  }
  EXPECT_EQ(page, made) << "run cli_test with CAIRN_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace cairn::cli
