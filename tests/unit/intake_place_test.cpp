// Project identity, on real directories made by the real git.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "intake/place.h"
#include "support/engine_fixture.h"
#include "support/git.h"
#include "support/temp_dir.h"

namespace cairn::intake {
namespace {

namespace fs = std::filesystem;
using test::must;
using test::TempDir;

class Places : public testing::Test {
 protected:
  void run(const std::string& command) { test::run_git(dir, command); }
  void repository(const std::string& name) {
    run("git init -q -b trunk " + name + " && git -C " + name + " commit -q --allow-empty -m one");
  }
  store::Place at(const std::string& below) { return resolve_place(disk, "", dir / below); }

  TempDir dir{"place"};
  os::RealDisk disk;
};

TEST_F(Places, ARepositoryAndItsSubdirectoriesAreOneProject) {
  repository("api");
  fs::create_directories(dir / "api/src/deep");
  const store::Place top = at("api");
  EXPECT_EQ(top.key, dir / "api/.git");
  EXPECT_EQ(top.root, dir / "api");
  EXPECT_EQ(top.name, "api");
  EXPECT_EQ(top.branch, "trunk");
  EXPECT_EQ(top.worktree, std::nullopt);
  EXPECT_EQ(at("api/src/deep").key, top.key);
  EXPECT_EQ(at("api/src/deep").name, "api");
}

TEST_F(Places, APrivatePartOfABranchsNameIsNotKept) {
  repository("api");
  run("git -C api checkout -q -b 'fix-<private>acme</private>-1'");
  EXPECT_EQ(at("api").branch, "fix-[private]-1");
}

TEST_F(Places, ALinkedWorktreeBelongsToItsRepository) {
  repository("api");
  run("git -C api worktree add -q -b feature ../api-feature");
  const store::Place linked = at("api-feature");
  EXPECT_EQ(linked.key, at("api").key);
  EXPECT_EQ(linked.name, "api");
  EXPECT_EQ(linked.branch, "feature");
  EXPECT_EQ(linked.worktree, dir / "api-feature");
}

TEST_F(Places, ASubmoduleIsAProjectOfItsOwn) {
  repository("lib");
  repository("app");
  run("git -C app -c protocol.file.allow=always submodule add -q ../lib vendor/lib");
  const store::Place inner = at("app/vendor/lib");
  EXPECT_EQ(inner.key, dir / "app/.git/modules/vendor/lib");
  EXPECT_EQ(inner.root, dir / "app/vendor/lib");
  EXPECT_EQ(inner.name, "lib");
  EXPECT_EQ(inner.worktree, std::nullopt);
  EXPECT_NE(inner.key, at("app").key);
}

TEST_F(Places, TheWorktreesOfABareRepositoryAreOneProject) {
  repository("seed");
  run("git clone -q --bare seed api.git && git -C api.git worktree add -q ../one trunk && "
      "git -C api.git worktree add -q -b two ../two");
  EXPECT_EQ(at("one").key, dir / "api.git");
  EXPECT_EQ(at("two").key, dir / "api.git");
  EXPECT_EQ(at("one").name, "api");
  EXPECT_EQ(at("api.git").key, dir / "api.git");
}

TEST_F(Places, ABareRepositoryInAHiddenDirectoryIsNamedByWhereItStands) {
  repository("seed");
  run("mkdir shop && git clone -q --bare seed shop/.bare && git -C shop/.bare worktree add -q ../main trunk");
  EXPECT_EQ(at("shop/main").key, dir / "shop/.bare");
  EXPECT_EQ(at("shop/main").name, "shop");
}

TEST_F(Places, ADirectoryThatIsGoneCountsByItsNameOrItsRepository) {
  EXPECT_EQ(at("gone/for/good").key, dir / "gone/for/good");
  EXPECT_EQ(at("gone/for/good").name, "good");
  repository("api");
  EXPECT_EQ(at("api/gone").key, dir / "api/.git");
}

TEST_F(Places, ASymlinkIsWhereItPoints) {
  repository("api");
  fs::create_directory_symlink(dir / "api", dir / "link");
  EXPECT_EQ(at("link").key, dir / "api/.git");
  EXPECT_EQ(at("link").name, "api");
}

TEST_F(Places, WithoutGitTheDirectoryIsTheProject) {
  fs::create_directories(dir / "notes");
  EXPECT_EQ(at("notes").key, dir / "notes");
  EXPECT_EQ(at("notes").name, "notes");
  EXPECT_EQ(at("notes").branch, std::nullopt);
}

TEST_F(Places, TheHostsProjectDirectoryComesBeforeTheCwd) {
  fs::create_directories(dir / "a");
  fs::create_directories(dir / "b");
  EXPECT_EQ(resolve_place(disk, dir / "a", dir / "b").key, dir / "a");
  EXPECT_EQ(resolve_place(disk, "", "").key, "/");
}

TEST_F(Places, AnEmptyGitDirectoryIsNoRepository) {
  fs::create_directories(dir / "odd/.git");
  EXPECT_EQ(at("odd").key, dir / "odd");
  test::write_file(dir / "file/.git", "this is no pointer\n");
  EXPECT_EQ(at("file").key, dir / "file");
}

TEST_F(Places, ADetachedHeadHasNoBranch) {
  repository("api");
  run("git -C api checkout -q --detach");
  EXPECT_EQ(at("api").branch, std::nullopt);
  EXPECT_EQ(current_branch(disk, dir / "api"), std::nullopt);
}

TEST_F(Places, NamesAreMadeUnique) {
  test::Machine m;
  must(m.open());
  for (const char* cwd :
       {"/home/dev/work/api", "/home/dev/home/api", "/srv/home/api", "/opt/home/api", "/api"}) {
    test::Chat chat;
    chat.session = std::string("s") + cwd;
    chat.cwd = cwd;
    m.tell(chat.start());
  }
  EXPECT_EQ(m.rows("SELECT name FROM projects ORDER BY id"),
            (std::vector<std::string>{"api", "home/api", "home/api-2", "home/api-3", "api-2"}));
}

TEST_F(Places, TheFirstEventFixesTheProjectAndALaterCdDoesNot) {
  test::Machine m;
  must(m.open());
  test::Chat chat;
  m.tell(chat.start());
  chat.cwd = "/home/dev/code/elsewhere";
  m.tell(chat.prompt("work"));
  EXPECT_EQ(m.rows("SELECT project, cwd FROM sdk_sessions"),
            (std::vector<std::string>{"proj|/home/dev/code/elsewhere"}));
}

}  // namespace
}  // namespace cairn::intake
