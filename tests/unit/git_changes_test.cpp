// Files that are changed and not committed, compared with the real git.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/text.h"
#include "git/changes.h"
#include "git/objects.h"
#include "support/git.h"
#include "support/temp_dir.h"

namespace cairn::git {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

class Changes : public testing::Test {
 protected:
  void run(const std::string& commands) { test::run_git(dir_, commands); }
  // A repository with a few directories and one commit.
  void repository(const std::string& name) {
    run("git init -q -b trunk " + name + " && cd " + name +
        " && mkdir -p src/deep/er doc && for i in 1 2 3 4 5 6 7 8 9; do echo $i >src/deep/er/file_$i.c; "
        "echo $i >src/$i.c; done && echo a >a.txt && echo b >doc/b.md && echo c >src.txt && ln -s a.txt link "
        "&& "
        "git add -A && git commit -qm one");
  }
  Paths changed(const std::string& below, const Paths& known = {}) {
    return changed_files(disk_, dir_ / below, known);
  }
  // What git says is changed since the last commit.
  Paths git_says(const std::string& below) {
    run("git -C " + below + " diff --no-renames --name-only HEAD >said");
    Paths said;
    const std::string text = test::read_text(dir_ / "said");
    for (const std::string_view line : split(text, '\n'))
      if (!line.empty()) said.emplace_back(line);
    return said;
  }

  test::TempDir dir_{"changes"};
  os::RealDisk disk_;
};

class ChangesByVersion : public Changes, public testing::WithParamInterface<const char*> {};

TEST_P(ChangesByVersion, AreSeenWhateverTheIndexLooksLike) {
  repository("api");
  run(std::string("git -C api update-index --index-version ") + GetParam());
  EXPECT_EQ(changed("api"), Paths());
  run("cd api && echo changed >src/3.c && rm src/deep/er/file_7.c && echo new >new.txt && echo staged >a.txt "
      "&& git "
      "add a.txt");
  EXPECT_EQ(changed("api/src"), (Paths{"a.txt", "src/3.c", "src/deep/er/file_7.c"}));
  EXPECT_EQ(changed("api", {"new.txt", "doc/b.md", "gone.txt", "/etc/passwd", "../x"}),
            (Paths{"a.txt", "new.txt", "src/3.c", "src/deep/er/file_7.c"}));
  run("cd api && git add -A && git commit -qm two");
  EXPECT_EQ(changed("api", {"new.txt"}), Paths());
}

INSTANTIATE_TEST_SUITE_P(Versions, ChangesByVersion, testing::Values("2", "3", "4"));

TEST_F(Changes, WhatIsStagedIsNotCommitted) {
  repository("api");
  run("cd api && echo new >src/deep/new.c && echo other >src/1.c && git rm -q src/2.c && git rm -q --cached "
      "doc/b.md && "
      "git mv src/3.c src/moved.c && chmod +x src/4.c && rm link && ln -s doc link && git add src link");
  EXPECT_EQ(changed("api"), (Paths{"doc/b.md", "link", "src/1.c", "src/2.c", "src/3.c", "src/4.c",
                                   "src/deep/new.c", "src/moved.c"}));
  EXPECT_EQ(changed("api"), git_says("api"));
  run("cd api && git commit -qm two");
  EXPECT_EQ(changed("api"), Paths());
}

TEST_F(Changes, AFileThatBecameADirectoryAndBack) {
  repository("api");
  run("cd api && rm a.txt && mkdir a.txt && echo x >a.txt/x && rm -r doc && echo doc >doc && git add -A");
  EXPECT_EQ(changed("api"), (Paths{"a.txt", "a.txt/x", "doc", "doc/b.md"}));
}

TEST_F(Changes, ACommitThatIsPackedIsReadFromItsPack) {
  repository("api");
  // Directories large and alike enough for git to keep them as deltas.
  run("cd api && for round in 1 2 3 4 5 6; do for i in $(seq 150); do echo $round$i "
      ">src/deep/a_rather_long_name_$i; "
      "done; git add -A; echo $round >src/deep/round; git add -A; git commit -qm $round; done && git gc -q "
      "&& "
      "git pack-refs --all && test -z \"$(git count-objects | sed -n 's/^0 .*//p')\"");
  run("cd api && git verify-pack -v .git/objects/pack/*.idx | grep -q 'chain length = 2'");
  run("cd api && echo x >src/deep/a_rather_long_name_77 && echo x >src/deep/er/file_1.c && git add -A");
  EXPECT_EQ(changed("api"), (Paths{"src/deep/a_rather_long_name_77", "src/deep/er/file_1.c"}));
  // A delta whose base is given by its id, not by its distance.
  run("cd api && git -c repack.useDeltaBaseOffset=false repack -qadf");
  EXPECT_EQ(changed("api"), (Paths{"src/deep/a_rather_long_name_77", "src/deep/er/file_1.c"}));
}

TEST_F(Changes, EveryKindOfRepositoryAgreesWithGit) {
  repository("api");
  run("git -C api worktree add -q -b side ../tree && git clone -q --shared api borrower && "
      "git clone -q borrower clone && git -C clone checkout -q --detach");
  for (const std::string place : {"api", "tree", "borrower", "clone"}) {
    EXPECT_EQ(changed(place), Paths()) << place;
    run("cd " + place + " && echo " + place + " >src/5.c && git add -A");
    EXPECT_EQ(changed(place), Paths{"src/5.c"}) << place;
    EXPECT_EQ(git_says(place), Paths{"src/5.c"}) << place;
    run("cd " + place + " && git commit -qm " + place);
    EXPECT_EQ(changed(place), Paths()) << place;
  }
}

TEST_F(Changes, BeforeTheFirstCommitAllThatIsAddedIsChanged) {
  run("git init -q api && cd api && echo a >a.txt && echo b >b.txt && git add a.txt");
  EXPECT_EQ(changed("api"), Paths{"a.txt"});
}

TEST_F(Changes, AConflictIsReported) {
  repository("api");
  run("cd api && git checkout -qb side && echo side >src/1.c && git commit -qam side && git checkout -q "
      "trunk && echo trunk "
      ">src/1.c && git commit -qam trunk && { git merge side || true; }");
  EXPECT_EQ(changed("api"), Paths{"src/1.c"});
}

TEST_F(Changes, UnknownFormatsGiveNoResult) {
  repository("api");
  run("cd api && echo x >src/1.c && git add -A && git update-index --split-index && git add -A");
  EXPECT_EQ(changed("api", {"src/2.c"}), Paths()) << "a split index";
  run("git init -q --object-format=sha256 long && cd long && echo a >a && git add -A && git commit -qm one "
      "&& echo b >a");
  EXPECT_LE(changed("long").size(), 1u);
  repository("tables");
  test::write_file(dir_ / "tables/.git/HEAD", "ref: refs/heads/.invalid\n");
  EXPECT_EQ(changed("tables"), Paths());
}

TEST_F(Changes, RandomWorkAgreesWithGitAtEveryStep) {
  repository("api");
  std::mt19937 random(4711);
  const auto any = [&random](int below) { return std::to_string(random() % static_cast<unsigned>(below)); };
  for (int step = 0; step < 60; ++step) {
    const std::string file = "d" + any(3) + "/e" + any(3) + "/f" + any(4);
    const std::string tracked =
        "$(git ls-files | sort -R --random-source=/dev/zero | sed -n " + any(9) + "1p)";
    const Paths work = {"mkdir -p $(dirname " + file + ") && echo " + std::to_string(step) + " >" + file +
                            " && git add " + file,
                        "f=" + tracked + "; test -z \"$f\" || git rm -qf \"$f\"",
                        "f=" + tracked + "; test ! -f \"$f\" || echo " + std::to_string(step) + " >>\"$f\"",
                        "git add -A",
                        "git commit -qm x || true",
                        "git reset -q --mixed",
                        "git stash -q || true",
                        "git stash pop -q || git checkout -qf",
                        "git checkout -qf -B other HEAD",
                        "git gc -q"};
    run("cd api && " + work[random() % work.size()]);
    run("cd api && { git diff --quiet || true; }");
    EXPECT_EQ(changed("api"), git_says("api")) << "step " << step;
  }
}

TEST_F(Changes, ReadingWritesNothingAndADamagedRepositoryIsHarmless) {
  repository("api");
  run("cd api && echo x >src/1.c && git add -A && git commit -qm two && git gc -q && echo y >src/1.c && git "
      "add -A");
  Paths files = {dir_ / "api/.git/index", dir_ / "api/.git/packed-refs"};
  for (const auto& entry : fs::directory_iterator(dir_ / "api/.git/objects/pack"))
    if (entry.path().extension() != ".rev") files.push_back(entry.path());
  ASSERT_EQ(files.size(), 4u);
  for (const std::string& file : files) {
    const std::string good = test::read_text(file);
    EXPECT_EQ(changed("api"), Paths{"src/1.c"});
    EXPECT_EQ(test::read_text(file), good) << file;
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
    const std::size_t step = std::max<std::size_t>(1, good.size() / 100);
    for (std::size_t at = 0; at < good.size(); at += step) {
      test::write_file(file, good.substr(0, at));
      EXPECT_LE(changed("api").size(), 30u) << file << " cut at " << at;
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0xff);
      test::write_file(file, bad);
      EXPECT_LE(changed("api").size(), 30u) << file << " damaged at " << at;
    }
    test::write_file(file, good);
  }
  EXPECT_EQ(changed("nothing", {"a"}), Paths());
}

TEST_F(Changes, ACopiedTreeIsNotChanged) {
  repository("api");
  run("cd api && echo x >src/1.c && git add -A");
  run("sleep 0.01; cp -r api copy");
  EXPECT_EQ(changed("copy"), Paths{"src/1.c"}) << "only what is staged";
}

}  // namespace
}  // namespace cairn::git
