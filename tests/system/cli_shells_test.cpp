// Completions and the manual page, as the shells and man read them.
#include <filesystem>

#include "system/cli_home.h"

namespace cairn::test {
namespace {

class CliShells : public CliHome {
 protected:
  // What a shell prints for a script, with cairn on its PATH.
  std::string shell(const std::string& program, const std::string& script) const {
    const Outcome outcome = call(program, {"-c", script}, {}, {"PATH=" CAIRN_BIN_DIR ":/usr/bin:/bin"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    return outcome.out;
  }
  // Completes the last of `words`, separated by blanks, in bash.
  std::string completed(const std::string& words) const {
    return shell("/bin/bash",
                 "source <(cairn completions bash); COMP_WORDS=(" + words +
                     "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _cairn; echo \"${COMPREPLY[*]}\"");
  }
};

TEST_F(CliShells, BashCompletesCommandsTheirPartsAndTheirOptions) {
  EXPECT_EQ(completed("cairn sea"), "search\n");
  EXPECT_EQ(completed("cairn sessions su"), "summarize\n");
  EXPECT_EQ(completed("cairn --json sessions sh"), "show\n");
  EXPECT_EQ(completed("cairn search --exp"), "--explain\n");
  EXPECT_EQ(completed("cairn search --kind s"), "summary\n");
  EXPECT_EQ(completed("cairn --project sessions sea"), "search\n") << "the value of an option is no command";
  EXPECT_EQ(completed("cairn context ''"), "log\n");
  EXPECT_EQ(completed("cairn config get hook.sy"), "hook.sync\n");
  EXPECT_EQ(completed("cairn status --no"), "--no-color\n");
}

TEST_F(CliShells, OtherShellsReadTheirScriptsWithoutAWarning) {
  for (const std::string name : {"zsh", "fish"}) {
    const std::string program = "/usr/bin/" + name;
    if (!std::filesystem::exists(program)) continue;
    const Outcome script = cairn({"completions", name});
    ASSERT_EQ(script.exit_code, 0);
    const Outcome checked = call(program, {"-n", "/dev/stdin"}, script.out);
    EXPECT_EQ(checked.exit_code, 0) << checked.describe();
    EXPECT_EQ(checked.err, "") << name;
  }
  EXPECT_EQ(cairn({"completions", "tcsh"}).exit_code, 2);
  EXPECT_EQ(cairn({"completions"}).exit_code, 2);
}

TEST_F(CliShells, TheManualPageIsFormattedWithoutAWarning) {
  const Outcome page = cairn({"man"});
  ASSERT_EQ(page.exit_code, 0);
  EXPECT_EQ(page.out.substr(0, 3), ".\\\"");
  if (!std::filesystem::exists("/usr/bin/groff")) GTEST_SKIP() << "groff is not installed";
  const Outcome formatted = call("/usr/bin/groff", {"-man", "-Tutf8", "-ww", "-z"}, page.out);
  EXPECT_EQ(formatted.exit_code, 0) << formatted.describe();
  EXPECT_EQ(formatted.err, "");
}

TEST_F(CliShells, InstallsWhereShellsLookAndRemovesItAgain) {
  const std::string fish = dir_ / ".config/fish", bash = dir_ / ".local/share/bash-completion";
  std::filesystem::create_directories(fish);
  std::filesystem::create_directories(bash);
  const std::string bin = dir_ / "prefix/bin";
  std::filesystem::create_directories(bin);
  for (const std::string& program : {kCairn, kHook})
    std::filesystem::copy(program, bin + program.substr(program.rfind('/')));
  const std::string program = bin + "/cairn";
  const Outcome first = call(program, {"completions", "--install"});
  EXPECT_EQ(first.exit_code, 0) << first.describe();
  const std::vector<std::string> files = {fish + "/completions/cairn.fish", bash + "/completions/cairn",
                                          dir_ / "prefix/share/man/man1/cairn.1"};
  for (const std::string& file : files) EXPECT_TRUE(std::filesystem::exists(file)) << file;
  EXPECT_EQ(call(program, {"completions", "--install"}).out, "completions and manual page are up to date\n");
  EXPECT_EQ(call(program, {"uninstall"}).exit_code, 0);
  for (const std::string& file : files) EXPECT_FALSE(std::filesystem::exists(file)) << file;
}

}  // namespace
}  // namespace cairn::test
