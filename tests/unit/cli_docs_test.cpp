// The reference says what the tables say: commands, settings, the database.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "cli/command.h"
#include "cli/completions.h"
#include "hook/home.h"
#include "ops/operation.h"
#include "ops/settings.h"
#include "store/schema.h"
#include "store/sql.h"
#include "support/temp_dir.h"

namespace cairn::cli {
namespace {

std::string page(const std::string& name) {
  std::ifstream file(std::string(CAIRN_TESTS_DIR) + "/../docs/reference/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Every name in capitals that the sources ask the environment for.
TEST(Docs, TheEnvironmentPageNamesEveryVariableThatTheSourcesRead) {
  const std::string text = page("environment.md");
  std::size_t found = 0;
  const std::filesystem::path src = std::string(CAIRN_TESTS_DIR) + "/../src";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string source = test::read_text(entry.path().string());
    for (const std::string_view call : {"getenv(\"", "variable(\"", "directory_from(\"", "is_set(\""})
      for (std::size_t at = source.find(call); at != std::string::npos; at = source.find(call, at + 1)) {
        const std::size_t begin = at + call.size();
        const std::string name = source.substr(begin, source.find('"', begin) - begin);
        if (name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != std::string::npos) continue;
        EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name << " in " << entry.path();
        ++found;
      }
  }
  EXPECT_GT(found, 15u);
  // Lists of names: what marks an agent's command, and what the daemon keeps of its environment.
  for (const char* list : {"/host/environment.cpp", "/os/process.cpp", "/host/codex/host.cpp"}) {
    std::string source = test::read_text(src.string() + list);
    source.resize(std::min(source.size(), source.find("bool is_agents_variable")));  // beginnings of names
    const auto parts = split(source, '"');
    for (std::size_t i = 1; i < parts.size(); i += 2) {
      const bool is_name = parts[i].size() > 5 &&
                           parts[i].find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string::npos;
      const bool is_proxy = parts[i].ends_with("_PROXY");  // named in small letters
      if (!is_name || is_proxy) continue;
      EXPECT_NE(text.find("`" + std::string(parts[i]) + "`"), std::string::npos) << parts[i];
    }
  }
}

// The walks of ARCHITECTURE.md: "| step | `folder/file.cpp` | `function` |". A step may name several of both.
TEST(Docs, EveryStepOfAWalkNamesAFileAndItsFunction) {
  const std::string top = std::string(CAIRN_TESTS_DIR) + "/..";
  const std::string architecture = test::read_text(top + "/ARCHITECTURE.md");
  const auto quoted = [](std::string_view cell) {
    std::vector<std::string> words;
    const auto parts = split(cell, '`');
    for (std::size_t i = 1; i < parts.size(); i += 2) words.emplace_back(parts[i]);
    return words;
  };
  std::size_t steps = 0;
  for (const std::string_view line :
       lines(std::string_view(architecture).substr(0, architecture.find("## Layers")))) {
    const auto cells = split(line, '|');
    if (cells.size() != 5 || quoted(cells[2]).empty()) continue;
    ++steps;
    const std::vector<std::string> functions = quoted(cells[3]);
    std::set<std::string> found;
    for (const std::string& file : quoted(cells[2])) {
      const std::string source = test::read_text(top + "/src/" + file);
      bool has_one = false;
      for (const std::string& function : functions) {
        if (source.find(function.substr(function.rfind(':') + 1) + "(") == std::string::npos) continue;
        found.insert(function);
        has_one = true;
      }
      EXPECT_TRUE(has_one) << file << " has none of the functions: " << line;
    }
    EXPECT_EQ(found, std::set<std::string>(functions.begin(), functions.end())) << line;
  }
  EXPECT_GT(steps, 30u);
}

// The picture of the folders is drawn again by scripts/folder_picture; `./check` says when it is out of date.
TEST(Docs, EveryFolderOfTheSourcesIsDescribed) {
  const std::string top = std::string(CAIRN_TESTS_DIR) + "/..";
  const std::string architecture = test::read_text(top + "/ARCHITECTURE.md");
  for (const auto& entry : std::filesystem::directory_iterator(top + "/src")) {
    if (!entry.is_directory()) continue;
    const std::string row = "\n| `" + entry.path().filename().string() + "` | ";
    EXPECT_NE(architecture.find(row), std::string::npos) << row;
  }
}

// The first column of the table below "## Where state lives".
std::vector<std::string> names_of_state(const std::string& architecture) {
  const std::string_view all(architecture);
  const std::size_t begin = all.find("## Where state lives");
  std::vector<std::string> names;
  for (const std::string_view line : lines(all.substr(begin, all.find("\n## ", begin + 1) - begin))) {
    if (!line.starts_with("| `")) continue;
    const auto parts = split(split(line, '|')[1], '`');
    for (std::size_t i = 1; i < parts.size(); i += 2)
      names.emplace_back(parts[i].substr(0, parts[i].find('/')));
  }
  return names;
}

TEST(Docs, EveryNameOfAHomeIsDescribed) {
  const auto described =
      names_of_state(test::read_text(std::string(CAIRN_TESTS_DIR) + "/../ARCHITECTURE.md"));
  for (const std::string_view name : hook::kHomeNames)
    EXPECT_NE(std::find(described.begin(), described.end(), name), described.end()) << name;
  for (const std::string& name : described) {
    const bool listed =
        std::find(hook::kHomeNames.begin(), hook::kHomeNames.end(), name) != hook::kHomeNames.end();
    EXPECT_TRUE(listed || hook::Home::creates(name)) << name;
  }
}

// home.data + "/imports": what the sources create in a home, `uninstall --purge` must know.
TEST(Docs, EveryNameOfAHomeInTheSourcesIsInTheList) {
  std::size_t found = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(CAIRN_TESTS_DIR) + "/../src")) {
    const bool is_source = entry.path().extension() == ".cpp" || entry.path().extension() == ".h";
    if (!is_source || entry.path().filename() == "completions.cpp") continue;  // its `data` is XDG_DATA_HOME
    const std::string source = test::read_text(entry.path().string());
    for (const std::string_view call : {"data + \"/", "home + \"/", "home_ + \"/"})
      for (std::size_t at = source.find(call); at != std::string::npos; at = source.find(call, at + 1)) {
        const std::size_t begin = at + call.size();
        std::string name = source.substr(begin, source.find_first_of("\"/", begin) - begin);
        if (name.empty() || name.starts_with(".") || name == "cairn")
          continue;                                // below HOME, the home itself
        if (name.ends_with("-")) name += "1.txt";  // "edit-" and a number
        EXPECT_TRUE(hook::Home::creates(name)) << name << " in " << entry.path();
        ++found;
      }
  }
  EXPECT_GT(found, 20u);
}

std::string settings_page() {
  std::string out =
      "# Settings\n\n"
      "They are in `config.toml`: in `~/.config/cairn`, or in `$CAIRN_HOME` if that is set; `cairn config "
      "set KEY VALUE` changes one and keeps every other\n"
      "line. A variable wins over the file: `hook.sync` is `CAIRN_HOOK_SYNC`. `cairn config list` shows each "
      "with its value and where it comes\n"
      "from. A bad value is named by `cairn config validate`, `cairn doctor` and `cairn status`, and the "
      "default is used meanwhile.\n\n"
      "| setting | default | meaning |\n|---|---|---|\n";
  for (const ops::Setting& setting : ops::all_settings()) {
    std::string meaning(setting.meaning);
    if (setting.type == ops::Setting::Type::integer || setting.type == ops::Setting::Type::decimal)
      meaning += " (" + std::to_string(setting.min) + " to " + std::to_string(setting.max) + ")";
    if (!setting.choices.empty()) {
      std::string values;
      for (const std::string_view one : split(setting.choices, '|'))
        values.append(values.empty() ? "" : ", ").append(one);
      meaning += " (" + values + ")";
    }
    for (std::size_t at = 0; (at = meaning.find('|', at)) != std::string::npos; at += 2)
      meaning.insert(at, "\\");
    out += "| `" + std::string(setting.key) + "` | `" + std::string(setting.fallback) + "` | " + meaning +
           " |\n";
  }
  return out;
}

std::string_view thread_of(ops::Access access) {
  switch (access) {
    case ops::Access::read: return "reader";
    case ops::Access::read_slowly: return "a reader of its own, because it may take minutes";
    case ops::Access::write: return "writer";
    case ops::Access::daemon: return "the daemon itself";
  }
  return "";
}

// "`limit` | a whole number from 1 to 1000; 20 when missing | at most N results"
std::string argument_row(const ops::Operation& operation, const ops::Argument& argument) {
  std::string value = ops::wanted(argument);
  if (argument.required) value += "; required";
  if (argument.fallback) value += "; " + std::to_string(*argument.fallback) + " when missing";
  if (!argument.with.empty()) value += "; only with `" + std::string(argument.with) + "`";
  for (const std::string_view other : split(argument.excluded, ' '))
    if (!other.empty()) value += "; not with `" + std::string(other) + "`";
  const bool scope = argument.name == "cwd" || argument.name == "project" || argument.name == "all";
  bool one_of_these = scope && operation.scope != ops::Scope::none;
  for (const std::string_view name : split(operation.one_of, ' '))
    one_of_these = one_of_these || (name == argument.name && operation.one_of != name);
  if (one_of_these) value += "; give exactly one of these";
  return "| `" + std::string(argument.name) + "` | " + value + " | " + std::string(argument.meaning) + " |\n";
}

// What control.md has between its two marks.
std::string operations_page() {
  std::string out;
  for (const ops::Operation& operation : ops::operations()) {
    out += "### `" + std::string(operation.name) + "`\n\n" + std::string(operation.summary) +
           ". Runs on: " + std::string(thread_of(operation.access)) + ".\n\n";
    if (operation.arguments.empty()) continue;
    out += "| argument | value | meaning |\n|---|---|---|\n";
    for (const ops::Argument& argument : operation.arguments) out += argument_row(operation, argument);
    out += "\n";
  }
  return out;
}

// CAIRN_UPDATE_DOCS=1 writes the pages instead of comparing them.
TEST(Docs, TheControlPageIsTheListOfOperations) {
  const std::string begin = "<!-- made from src/ops by cli_test with CAIRN_UPDATE_DOCS=1 -->\n\n",
                    end = "<!-- end -->\n";
  std::string text = page("control.md");
  const std::size_t from = text.find(begin), to = text.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const std::size_t start = from + begin.size();
  const std::string made = operations_page();
  if (std::getenv("CAIRN_UPDATE_DOCS"))
    std::ofstream(std::string(CAIRN_TESTS_DIR) + "/../docs/reference/control.md")
        << text.replace(start, to - start, made);
  else
    EXPECT_EQ(text.substr(start, to - start), made) << "run cli_test with CAIRN_UPDATE_DOCS=1";
}

TEST(Docs, TheSettingsPageIsTheTableOfSettings) {
  const std::string made = settings_page();
  if (std::getenv("CAIRN_UPDATE_DOCS"))
    std::ofstream(std::string(CAIRN_TESTS_DIR) + "/../docs/reference/settings.md") << made;
  EXPECT_EQ(page("settings.md"), made) << "run cli_test with CAIRN_UPDATE_DOCS=1";
}

TEST(Docs, TheDatabasePageNamesEveryTableAndColumn) {
  test::TempDir directory;
  store::Db db = store::Db::open({.path = directory / "cairn.db"}).value();
  ASSERT_TRUE(store::migrate(db, store::schema(), from_epoch_ms(0)).ok());
  const std::string text = page("database.md");
  store::Stmt table =
      db.query(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' "
            "AND name NOT LIKE 'memory\\_index\\__%' ESCAPE '\\' ORDER BY name")
          .value();
  while (table.step().value()) {
    const std::string name = table.text(0);
    std::string columns;
    store::Stmt column = db.query("SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1", name).value();
    while (column.step().value()) columns += (columns.empty() ? "`" : ", `") + column.text(0) + "`";
    const std::string row = "| `" + name + "` | " + columns + " |";
    EXPECT_NE(text.find(row), std::string::npos) << "docs/reference/database.md lacks: " << row;
  }
}

TEST(Docs, TheManualPageAndTheCompletionsNameEveryCommand) {
  const std::string man = man_page();
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion_script(shell);
    for (const Command& command : all_commands()) {
      EXPECT_NE(script.find(command.name), std::string::npos) << shell << " " << command.name;
      for (const ops::Argument& option : command.options())
        EXPECT_NE(script.find(option.option().substr(2)), std::string::npos) << shell << " " << option.name;
    }
  }
  for (const Command& command : all_commands()) {
    std::string heading = ".SS cairn ";
    for (const char c : command.name) heading += c == '-' ? std::string("\\-") : std::string(1, c);
    EXPECT_NE(man.find(heading), std::string::npos) << command.name;
  }
}

}  // namespace
}  // namespace cairn::cli
