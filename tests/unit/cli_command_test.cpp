#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/nearest.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/command_table.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/program.h"
#include "host/claude_code/hooks.h"
#include "support/temp_dir.h"

namespace cairn::cli {
namespace {

const Screen kPlain{.terminal = false, .colour = false, .width = 80};

// As a command line is read before its command runs.
Result<Line> read(const std::vector<std::string>& arguments) {
  Line line = TRY(read_arguments(arguments));
  TRY(checked_arguments(line, "/"));
  return line;
}

// Reads a line that must be valid.
Line understood(const std::vector<std::string>& arguments) {
  auto line = read(arguments);
  EXPECT_TRUE(line.ok()) << (line.ok() ? "" : line.error().message);
  return line ? *std::move(line) : Line{};
}

// The error of a line that must be invalid.
std::string refused(const std::vector<std::string>& arguments) {
  const auto line = read(arguments);
  EXPECT_FALSE(line.ok());
  if (line.ok()) return {};
  EXPECT_EQ(line.error().code, Code::invalid);
  return line.error().message;
}

TEST(CommandLine, FindsACommandOfTwoWordsAndItsArgument) {
  const Line line = understood({"sessions", "show", "12", "--events"});
  ASSERT_TRUE(line.command);
  EXPECT_EQ(line.command->name, "sessions show");
  EXPECT_EQ(line.words, std::vector<std::string>{"12"});
  EXPECT_TRUE(line.flag("events"));
  EXPECT_FALSE(line.flag("json"));
}

TEST(CommandLine, AnOptionOfTheCommandComesBeforeTheOneOfEveryCommand) {
  const Line line = understood({"backup", "restore", "B1", "--version", "2", "--to", "/tmp/x"});
  EXPECT_EQ(line.value("version"), "2");
  EXPECT_EQ(line.words, std::vector<std::string>{"B1"});
  for (const char* name : {"backup restore", "delta"})
    EXPECT_NE(usage(*find_command(name)).find("[--version N]"), std::string::npos) << name;
  EXPECT_TRUE(read_arguments({"--version", "backup", "restore"})->flag("version"));
}

TEST(CommandLine, TakesGlobalOptionsAnywhere) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--json", "--project", "api", "sessions", "list"},
                                             {"sessions", "--json", "--project=api", "list"},
                                             {"sessions", "list", "--project", "api", "--json"}}) {
    const Line line = understood(arguments);
    ASSERT_TRUE(line.command);
    EXPECT_EQ(line.command->name, "sessions list");
    EXPECT_TRUE(line.flag("json"));
    EXPECT_EQ(line.value("project"), "api");
  }
}

TEST(CommandLine, KnowsShortOptionsAndTheLastValueCounts) {
  EXPECT_EQ(understood({"logs", "-n", "5"}).value("lines"), "5");
  EXPECT_EQ(understood({"logs", "-n5", "-f"}).value("lines"), "5");
  EXPECT_TRUE(understood({"logs", "-n5", "-f"}).flag("follow"));
  EXPECT_EQ(understood({"logs", "--lines=1", "--lines", "2"}).value("lines"), "2");
}

TEST(CommandLine, TakesEverythingAfterTwoDashesAsWords) {
  const Line line = understood({"config", "set", "--", "log.level", "--json"});
  EXPECT_EQ(line.words, (std::vector<std::string>{"log.level", "--json"}));
  EXPECT_FALSE(line.flag("json"));
}

TEST(CommandLine, SaysWhichCommandWasMeant) {
  EXPECT_EQ(refused({"statsu"}), "unknown command \"statsu\": did you mean \"status\"?");
  EXPECT_EQ(refused({"sessions", "lst"}),
            "unknown command \"sessions lst\": did you mean \"sessions list\"?");
  EXPECT_EQ(refused({"sesions", "list"}), "unknown command \"sesions\": did you mean \"sessions\"?");
  EXPECT_EQ(refused({"make-coffee"}), "unknown command \"make-coffee\": `cairn help` lists them");
}

TEST(CommandLine, SaysWhichOptionWasMeant) {
  EXPECT_EQ(refused({"sessions", "list", "--limti", "4"}),
            "sessions list: there is no argument \"--limti\": did you mean \"--limit\"?");
  EXPECT_EQ(refused({"logs", "--lnies", "4"}),
            "logs: there is no argument \"--lnies\": did you mean \"--lines\"?");
  EXPECT_EQ(refused({"--jsno"}), "options: there is no argument \"--jsno\": did you mean \"--json\"?");
  EXPECT_EQ(refused({"status", "--jsno"}),
            "status: there is no argument \"--jsno\": did you mean \"--json\"?");
  EXPECT_EQ(refused({"doctor", "--frobnicate"}),
            "doctor: there is no argument \"--frobnicate\": it takes --fix, --trace");
}

TEST(CommandLine, CountsArguments) {
  EXPECT_EQ(refused({"config", "set", "log.level"}), "config set: VALUE is missing: a text");
  EXPECT_EQ(refused({"status", "now"}), "status: there is one word too many: it takes none");
  EXPECT_EQ(understood({"show", "S1", "S2", "P3"}).words.size(), 3u);
  EXPECT_TRUE(understood({"debug", "sql"}).words.empty());
}

TEST(CommandLine, ListsWhereAGroupHasAListAndAsksWhichOneOtherwise) {
  for (const char* group : {"sessions", "projects", "queue", "config"})
    EXPECT_EQ(understood({group}).command->name, std::string(group) + " list");
  EXPECT_EQ(understood({"sessions", "--limit", "4"}).value("limit"), "4");
  EXPECT_NE(refused({"sessions", "--limit", "4", "end", "1"}).find("no argument \"--limit\""),
            std::string::npos);
  const std::string message = refused({"daemon"});
  EXPECT_NE(message.find("run, start, stop"), std::string::npos) << message;
}

TEST(CommandLine, TakesANumberBelowZeroAsAWord) {
  EXPECT_EQ(understood({"config", "set", "log.max_mb", "-5"}).words[1], "-5");
}

TEST(CommandLine, TakesWhatIsNoOptionAsPartOfATextThatHasBegun) {
  const Line line = understood({"search", "push", "--force", "-x", "--limit", "3"});
  EXPECT_EQ(line.words, (std::vector<std::string>{"push", "--force", "-x"}));
  EXPECT_EQ(line.value("limit"), "3");
  refused({"search", "--force"});
}

TEST(CommandLine, RefusesAValueThatIsMissingOrTooMuch) {
  EXPECT_NE(refused({"sessions", "list", "--limit"}).find("--limit needs a value"), std::string::npos);
  EXPECT_EQ(refused({"status", "--json=yes"}), "status: --json must be true or false");
  EXPECT_FALSE(understood({"status", "--json=false"}).flag("json"));
  EXPECT_EQ(refused({"status", "--all", "--project", "x"}),
            "status: --all and --project exclude each other: leave one out");
  EXPECT_EQ(refused({"search", "x", "--cwd", ""}), "search: --cwd must be an absolute path");
}

TEST(CommandLine, TakesAListAsSeveralOptionsOrWithCommas) {
  const auto args = [](const std::vector<std::string>& line) {
    return checked_arguments(understood(line), "/home/dev")->dump();
  };
  EXPECT_EQ(args({"resume", "--sections", "Goal, State"}),
            R"({"sections":["Goal","State"],"cwd":"/home/dev"})");
  EXPECT_EQ(args({"save", "--tag", "a,b", "--tag", "c"}), R"({"tag":["a,b","c"],"cwd":"/home/dev"})");
  EXPECT_EQ(args({"forget", "--keep", "O1", "--keep", "O2", "--all"}), R"({"all":true,"keep":["O1","O2"]})");
}

// Commands that are no operations are checked as those are.
TEST(CommandLine, ReadsNumbersWithinTheirRange) {
  EXPECT_EQ(checked_arguments(understood({"logs", "--lines", "12"}), "/")->dump(), R"({"lines":12})");
  for (const char* bad : {"", "x", "12x", "-1", "1e3", "99999999999999999999"})
    EXPECT_EQ(refused({"logs", "--lines", bad}), "logs: --lines must be a whole number from 0 to 1000000");
}

TEST(CommandLine, GivesHelpWhateverElseIsWrong) {
  EXPECT_TRUE(read_arguments({"show", "--help"})->flag("help"));
  EXPECT_TRUE(read_arguments({"sessions", "--help", "--frobnicate"})->flag("help"));
  EXPECT_TRUE(read_arguments({})->path.empty());
}

TEST(CommandLine, SurvivesArgumentsThatAreNotText) {
  const std::string message = refused({"st\xff\x1b[31matus"});
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_TRUE(is_utf8(message));
  refused({std::string(100'000, 'x')});
}

TEST(Help, BeginsWithSixCommandsAndNamesAllOthersByGroup) {
  const std::string text = overview(kPlain);
  const std::string first = text.substr(0, text.find("All commands"));
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 11) << first;
  for (const char* name : {"status", "search", "show", "context", "remember", "doctor"})
    EXPECT_NE(first.find("\n  " + std::string(name)), std::string::npos) << name;
  for (const Command& command : all_commands()) {
    const std::string last = command.name.substr(command.name.rfind(' ') + 1);
    EXPECT_NE(text.find(last, first.size()), std::string::npos) << command.name;
    EXPECT_NE(text.find(ops::group_title(command.operation->group)), std::string::npos);
  }
  for (const ops::Argument& option : global_options())
    EXPECT_NE(text.find(option.option()), std::string::npos);
}

TEST(Help, ListsEveryCommandOnceUnderItsGroupWhenAskedForAll) {
  const std::string text = full_overview(kPlain);
  for (const Command& command : all_commands()) {
    const std::string entry = "\n  " + command.name;
    EXPECT_NE(text.find(entry), std::string::npos) << command.name;
    EXPECT_NE(text.find(ops::group_title(command.operation->group)), std::string::npos);
  }
  for (const ops::Argument& option : global_options())
    EXPECT_NE(text.find(option.option()), std::string::npos);
}

TEST(Help, HasAPageForEveryCommandThatNamesItsOptions) {
  for (const Command& command : all_commands()) {
    std::vector<std::string> path;
    for (const std::string_view word : split(command.name, ' ')) path.emplace_back(word);
    const auto page = help_page(path, kPlain);
    ASSERT_TRUE(page.ok()) << command.name;
    EXPECT_NE(one_line(*page, 1 << 20).find("usage: " + usage(command)), std::string::npos) << command.name;
    EXPECT_NE(page->find(command.operation->summary), std::string::npos);
    for (const ops::Argument& option : command.options())
      EXPECT_NE(one_line(*page, 1 << 20).find(option.meaning), std::string::npos) << option.name;
  }
}

TEST(Help, ShowsAGroupAndRefusesAnUnknownName) {
  const auto group = help_page({"queue"}, kPlain);
  ASSERT_TRUE(group.ok());
  for (const char* name : {"queue list", "queue show ID", "queue stats"})
    EXPECT_NE(group->find(name), std::string::npos);
  EXPECT_EQ(group->find("sessions"), std::string::npos);
  EXPECT_FALSE(help_page({"quue"}, kPlain).ok());
}

TEST(Help, FitsATerminalOf80Columns) {
  const Screen terminal{.terminal = true, .colour = false, .width = 80};
  for (const std::string& text : {overview(terminal), full_overview(terminal)})
    for (const std::string_view line : lines(text)) EXPECT_LE(display_width(line), 80u) << line;
}

// `context log` goes on where `context` ends: that takes no arguments that could be mistaken for it.
TEST(Commands, OnlyBeginAnothersNameWhenTheyTakeNoArguments) {
  std::set<std::string_view> names;
  for (const Command& command : all_commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    for (const Command& other : all_commands())
      EXPECT_TRUE(command.words().empty() || !other.name.starts_with(std::string(command.name) + " "))
          << other.name;
    // `--version N` of a command cannot be taken for `--version` of every command.
    for (const ops::Argument& option : command.options())
      for (const ops::Argument& global : global_options())
        EXPECT_TRUE(option.name != global.name || (option.label == "N" && global.label.empty()))
            << command.name;
  }
}

TEST(CommandLine, TakesTheLongestNameThatFits) {
  EXPECT_EQ(read_arguments({"context", "log"})->command->name, "context log");
  EXPECT_EQ(read_arguments({"context", "--budget", "5"})->command->name, "context");
  EXPECT_EQ(read_arguments({"search", "sessions", "list"})->command->name, "search");
}

TEST(DidYouMean, CountsASwapAsOneErrorAndSuggestsNothingBeyondTwo) {
  const std::vector<std::string_view> known = {"status", "show", "sessions"};
  EXPECT_EQ(did_you_mean("satuts", known), "status");
  EXPECT_EQ(did_you_mean("shwo", known), "show");
  EXPECT_EQ(did_you_mean("sht", known), "");
  EXPECT_EQ(did_you_mean("process", known), "");
  EXPECT_EQ(did_you_mean(std::string(1000, 's'), known), "");
}

TEST(HostVersion, ReadsTheFirstVersionOfAText) {
  EXPECT_EQ(host::claude::parse_version("2.1.197 (Claude Code)"), (std::array{2, 1, 197}));
  EXPECT_EQ(host::claude::parse_version("claude v1.0.33\n"), (std::array{1, 0, 33}));
  EXPECT_FALSE(host::claude::parse_version("2.1"));
  EXPECT_FALSE(host::claude::parse_version(""));
  EXPECT_FALSE(host::claude::parse_version("99999999999.1.1"));
}

TEST(HostVersion, DoubtsInFavourOfTheExecForm) {
  EXPECT_TRUE(host::claude::SettingsHooks().takes_exec_form("2.1.0"));
  EXPECT_FALSE(host::claude::SettingsHooks().takes_exec_form("2.0.76 (Claude Code)"));
  EXPECT_TRUE(host::claude::SettingsHooks().takes_exec_form(std::nullopt));
  EXPECT_TRUE(host::claude::SettingsHooks().takes_exec_form("who knows"));
}

TEST(HostVersion, GivesUpOnAProgramThatHangsOrIsMissing) {
  using namespace std::chrono_literals;
  const auto started = std::chrono::steady_clock::now();
  // `cat --version` prints; a program that is not there does not.
  EXPECT_TRUE(version_of("cat", 5s));
  EXPECT_FALSE(version_of("cairn-no-such-program", 5s));
  EXPECT_FALSE(version_of("false", 5s));
  EXPECT_LT(std::chrono::steady_clock::now() - started, 5s);
}

// Another file as stdin, until the end of the test.
class Stdin {
 public:
  explicit Stdin(const char* path) : before_(dup(STDIN_FILENO)) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    EXPECT_GE(dup2(fd, STDIN_FILENO), 0);
    close(fd);
  }
  ~Stdin() {
    dup2(before_, STDIN_FILENO);
    close(before_);
  }

 private:
  const int before_;
};

TEST(StandardInput, AReadErrorIsNotTheEndOfTheText) {
  const Stdin directory("/");  // cannot be read
  const auto text = all_of_stdin("save");
  ASSERT_FALSE(text.ok()) << "it counts as an empty text";
  EXPECT_TRUE(text.error().message.starts_with("save: stdin: ")) << text.error().message;
}

TEST(StandardInput, MoreThanTheLimitIsRefused) {
  const Stdin endless("/dev/zero");
  EXPECT_EQ(all_of_stdin("save").error().message, "save: stdin: more than 1.0 MB: shorten it");
}

TEST(WrongModes, EveryFileOfTheStoreIsLookedAt) {
  const test::TempDir dir("modes");
  const hook::Home home = hook::Home::at(dir / "home");
  for (const char* name : {"cairn.db", "cairn.db-wal", "cairn.db.state", "cairn.db.first",
                           "cairn.db.damaged-20261101T000000", "key", "edit-7.txt", "mine.txt"})
    test::write_file(home.data + "/" + name, "x");
  for (const auto& entry : std::filesystem::directory_iterator(home.data))
    std::filesystem::permissions(entry.path(), std::filesystem::perms(0644));
  std::filesystem::permissions(home.data, std::filesystem::perms(0700));
  os::RealDisk disk;
  std::set<std::string> wrong;
  for (const std::string& path : wrong_modes(disk, home)) wrong.insert(path.substr(home.data.size() + 1));
  EXPECT_EQ(wrong, (std::set<std::string>{"cairn.db", "cairn.db-wal", "cairn.db.state", "cairn.db.first",
                                          "cairn.db.damaged-20261101T000000", "key", "edit-7.txt"}));
}

}  // namespace
}  // namespace cairn::cli
