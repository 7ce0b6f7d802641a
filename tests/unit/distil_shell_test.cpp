#include <gtest/gtest.h>

#include <random>

#include "distil/runs.h"
#include "distil/shell.h"

namespace cairn::distil {
namespace {

using Files = std::vector<std::string>;

Files read(std::string_view command) {
  return shell_files(command).read;
}
Files written(std::string_view command) {
  return shell_files(command).written;
}
Files commits(std::string_view command) {
  return shell_files(command).commits;
}

TEST(ShellFiles, RedirectionsNameFiles) {
  EXPECT_EQ(written("echo x > a.txt"), Files{"a.txt"});
  EXPECT_EQ(written("echo x >>a.txt 2>err.log"), (Files{"a.txt", "err.log"}));
  EXPECT_EQ(written("make &> build.log"), Files{"build.log"});
  EXPECT_EQ(written("echo x >| a"), Files{"a"});
  EXPECT_EQ(read("wc -l < in.txt"), Files{"in.txt"});
  EXPECT_EQ(written(">'a file'"), Files{"a file"});
}

TEST(ShellFiles, DescriptorsAndDevicesAreNoFiles) {
  EXPECT_EQ(written("make >/dev/null 2>&1"), Files{});
  EXPECT_EQ(written("make 2>&1 | tee log >&2"), Files{"log"});
  EXPECT_EQ(read("cat </dev/stdin -"), Files{});
}

TEST(ShellFiles, ReadersNameWhatTheyRead) {
  EXPECT_EQ(read("cat a b"), (Files{"a", "b"}));
  EXPECT_EQ(read("head -n 5 a.c; tail -20 b.c"), (Files{"a.c", "b.c"}));
  EXPECT_EQ(read("grep -n -A 3 'foo bar' src/x.c"), Files{"src/x.c"});
  EXPECT_EQ(read("grep -e foo x.c"), Files{"x.c"});
  EXPECT_EQ(read("grep -rn foo src"), Files{});
  EXPECT_EQ(read("sed -n '1,5p' f | sort"), Files{"f"});
  EXPECT_EQ(read("awk '{print $1}' f"), Files{"f"});
  EXPECT_EQ(read("cat a && cat a"), Files{"a"});
}

TEST(ShellFiles, WritersNameWhatTheyWrite) {
  EXPECT_EQ(written("touch a b"), (Files{"a", "b"}));
  EXPECT_EQ(written("rm -f a"), Files{"a"});
  EXPECT_EQ(written("rm -rf build"), Files{});
  EXPECT_EQ(written("mv a b"), (Files{"a", "b"}));
  EXPECT_EQ(written("cp a dir/"), Files{"dir/a"});
  EXPECT_EQ(read("cp a b"), Files{"a"});
  EXPECT_EQ(written("mv x/a y/b dir"), (Files{"x/a", "y/b", "dir/a", "dir/b"}));
  EXPECT_EQ(written("echo x | tee -a a b"), (Files{"a", "b"}));
  EXPECT_EQ(written("sed -i 's/a/b/' f g"), (Files{"f", "g"}));
  EXPECT_EQ(written("sed -i.bak -e 's/a/b/' f"), Files{"f"});
  EXPECT_EQ(written("perl -pi -e 's/a/b/' f"), Files{"f"});
  EXPECT_EQ(written("git add a b && git rm c && git mv d e"), (Files{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(written("git add ."), Files{});
  EXPECT_EQ(written("curl -s http://x -o out.bin"), Files{"out.bin"});
}

TEST(ShellFiles, OperatorsSeparateCommands) {
  EXPECT_EQ(read("cat a|cat b&&cat c||cat d;cat e&cat f\ncat g"), (Files{"a", "b", "c", "d", "e", "f", "g"}));
  EXPECT_EQ(read("(cat a); { cat b; }"), (Files{"a", "b"}));
  EXPECT_EQ(read("if cat a; then cat b; else cat c; fi"), (Files{"a", "b", "c"}));
  EXPECT_EQ(read("X=1 sudo -n cat a # cat b"), Files{"a"});
  EXPECT_EQ(read("cat \\\n a"), Files{"a"});
}

TEST(ShellFiles, QuotesKeepWordsTogether) {
  EXPECT_EQ(read("cat 'a b' \"c d\" e\\ f"), (Files{"a b", "c d", "e f"}));
  EXPECT_EQ(written("echo 'x > y' \"> z\" \\> w"), Files{});
  EXPECT_EQ(read("cat \"a\\\"b\""), Files{"a\"b"});
}

TEST(ShellFiles, WordsThatExpandAreNoFiles) {
  EXPECT_EQ(read("cat $X \"$Y/z\" *.c ${A}b `pwd`/c $(pwd)/d a?"), Files{});
  EXPECT_EQ(read("cat a$ 'b$c'"), (Files{"a$", "b$c"}));
  EXPECT_EQ(written("echo $((1 > 2)) $(( 3 << 4 )) > out"), Files{"out"});
}

TEST(ShellFiles, SubstitutionsAreCommandsToo) {
  EXPECT_EQ(read("echo \"$(cat a)\" `cat b` <(cat c)"), (Files{"a", "b", "c"}));
  EXPECT_EQ(read("sh -c 'cat a; cat b'"), (Files{"a", "b"}));
}

TEST(ShellFiles, HereDocumentsAreText) {
  EXPECT_EQ(written("cat > f.py <<'EOF'\nprint('don't') > g\nrm x\nEOF\ntouch after"),
            (Files{"f.py", "after"}));
  EXPECT_EQ(written("cat <<-E >a\n\tx > b\n\tE\ntouch c"), (Files{"a", "c"}));
  EXPECT_EQ(read("cat <<< 'x'\ncat a"), Files{"a"});
  EXPECT_EQ(written("cat <<A <<B >o\n> x\nA\n> y\nB\ntouch z"), (Files{"o", "z"}));
}

TEST(ShellFiles, CommitsKeepTheirWholeMessage) {
  EXPECT_EQ(commits("git commit -m 'fix: the lexer'"), Files{"fix: the lexer"});
  EXPECT_EQ(commits("git -C x commit -am \"one\n\nbody\""), Files{"one\n\nbody"});
  EXPECT_EQ(commits("git commit --message=two"), Files{"two"});
  EXPECT_EQ(
      commits(
          "git add -A && git commit -m \"$(cat <<'EOF'\nAdd it (don't ask)\n\nMore.\nEOF\n)\" && git push"),
      Files{"Add it (don't ask)\n\nMore."});
  EXPECT_EQ(commits("git commit -F - <<EOF\nthree\nEOF"), Files{"three"});
  EXPECT_EQ(commits("git log -m"), Files{});
}

TEST(ShellFiles, PullRequestsKeepTheirTitleAndText) {
  const auto pulls = shell_files("git push && gh pr create --title 'Add it' --body=\"Why.\n\nHow.\"").pulls;
  ASSERT_EQ(pulls.size(), 1u);
  EXPECT_EQ(pulls[0].title, "Add it");
  EXPECT_EQ(pulls[0].body, "Why.\n\nHow.");
  EXPECT_TRUE(shell_files("gh pr view 12").pulls.empty());
}

TEST(ShellFiles, AMergedPullRequestIsKnownByItsArgumentOrByTheOutput) {
  const auto merged = [](std::string_view command, std::string_view output) {
    return merged_pull(shell_files(command), output);
  };
  EXPECT_EQ(merged("gh pr merge 12 --squash", ""), "#12 merged");
  EXPECT_EQ(merged("cd x && gh pr merge https://github.com/a/b/pull/7 -d", ""), "#7 merged");
  EXPECT_EQ(merged("gh pr merge --squash", "\xe2\x9c\x93 Squashed and merged pull request a/b#31 (Add it)"),
            "#31 merged");
  EXPECT_EQ(merged("gh pr merge --auto", "it will be merged when all requirements are met"), "");
  EXPECT_EQ(merged("gh pr view 12", ""), "");
}

TEST(ShellFiles, ADirectoryChangeMovesRelativePaths) {
  EXPECT_EQ(read("cd sub && cat a /b"), (Files{"sub/a", "/b"}));
  EXPECT_EQ(read("cd a; cd b; cat c"), Files{"a/b/c"});
  EXPECT_EQ(read("(cd sub && cat a); cat b"), (Files{"sub/a", "b"}));
  EXPECT_EQ(read("cd $X; cat a /b"), Files{"/b"});
}

TEST(ShellFiles, KnowsCommandsThatOnlyLook) {
  for (const char* command :
       {"ls -la", "cd x && git status", "cat a | grep b | sort", "git log --oneline 2>/dev/null"})
    EXPECT_TRUE(shell_files(command).only_looks) << command;
  for (const char* command :
       {"make", "ls > f", "sed -i s/a/b/ f", "find . -delete", "git push", "cat a; npm test", ""})
    EXPECT_FALSE(shell_files(command).only_looks) << command;
  EXPECT_TRUE(shell_files("cd x && git add -A && git commit -m y").only_commits);
  EXPECT_FALSE(shell_files("make && git commit -m y").only_commits);
}

TEST(ShellFiles, ACheckKeepsTheConditionThatGuardsIt) {
  EXPECT_EQ(shell_files("test -f done.mark && make test").check, "test -f done.mark && make test");
  EXPECT_EQ(shell_files("cd web && [ -d node_modules ] && [[ -f x ]] && npm test | tail -3").check,
            "[ -d node_modules ] && [[ -f x ]] && npm test");
  EXPECT_EQ(shell_files("test -f x; make test").check, "make test");
  EXPECT_EQ(shell_files("test -f x && echo y && make test").check, "make test");
  EXPECT_EQ(shell_files("cd x && make test 2>&1").check, "make test 2>&1");
}

TEST(ShellFiles, HostileTextEndsAndDoesNoHarm) {
  const auto read = [](const std::string& text) {
    const ShellFiles files = shell_files(text);
    EXPECT_LE(files.read.size(), 1000u);
    EXPECT_LE(files.written.size(), 1000u);
    EXPECT_LE(files.check.size(), text.size());
  };
  for (const char* unit :
       {"$(", "`", "(", "\"$(", "<<A ", "${", "<(", "'", "\"", "\\", "&>", "sh -c '", "((", "`$("}) {
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += unit;
    read(text);
    read("cat " + text + "\n" + text);
  }
  std::mt19937 random(3);
  const std::string_view alphabet = "ab $(){}`'\"\\\n;|&<>=-#/*cat \0x";
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 60, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    read(text);
  }
}

}  // namespace
}  // namespace cairn::distil
