// A project's memory follows its repository: over the real git's directories and the whole engine.
#include <gtest/gtest.h>

#include <filesystem>

#include "intake/place.h"
#include "intake/project_identity.h"
#include "store/project_links.h"
#include "support/engine_fixture.h"
#include "support/git.h"
#include "support/routed_disk.h"
#include "support/temp_dir.h"

namespace cairn::intake {
namespace {

namespace fs = std::filesystem;
using test::must;
using Rows = std::vector<std::string>;

class ProjectIdentity : public testing::Test {
 protected:
  void SetUp() override {
    m.engine_disk = &disk;
    must(m.open());
  }
  void TearDown() override { m.close(); }  // before its disk
  void run(const std::string& commands) { test::run_git(dir, commands); }
  void repository(const std::string& name, const std::string& message = "one") {
    run("git init -q -b trunk " + name + " && git -C " + name + " commit -q --allow-empty -m " + message);
  }

  test::Chat chat(const std::string& below) {
    test::Chat chat;
    chat.session = "session-" + std::to_string(++sessions);
    chat.cwd = dir / below;
    return chat;
  }
  // A session that begins, works and ends; what its notice said.
  std::string work(const std::string& below, const std::string& request) {
    test::Chat one = chat(below);
    const auto answer = m.ask(one.start());
    m.tell(one.prompt(request));
    m.tell(one.stop("Finished: " + request));
    m.tell(one.end());
    given = test::Machine::context_of(answer);
    return std::string(must(Json::parse(answer.line))["systemMessage"].as_string());
  }
  Rows projects() {
    return m.rows("SELECT name, replace(key, '" + dir.path() + "/', '') FROM projects ORDER BY id");
  }
  bool is_given(std::string_view text) const { return given.find(text) != std::string::npos; }

  test::TempDir dir{"identity"};
  test::Machine m;
  test::RoutedDisk disk{m.disk, dir.path()};
  std::string given;  // the context of the last session
  int sessions = 0;
};

TEST_F(ProjectIdentity, ADirectoryThatBecomesARepositoryKeepsItsMemory) {
  fs::create_directories(dir / "shop");
  test::Chat first = chat("shop");
  m.tell(first.start());
  m.tell(first.prompt("start the shop"));
  repository("shop");
  m.tell(first.stop("The shop has a repository."));
  EXPECT_EQ(projects(), (Rows{"shop|shop/.git"})) << "its row follows while the session goes on";
  EXPECT_NE(m.text("SELECT root_commit FROM projects"), "");
  m.tell(first.prompt("and a cart"));
  m.tell(first.stop("The cart is there."));
  m.tell(first.end());
  const std::string notice = work("shop", "add prices");
  EXPECT_TRUE(is_given("The cart is there.")) << given;
  EXPECT_NE(notice.find("became a repository"), std::string::npos) << notice;
  EXPECT_EQ(work("shop", "add taxes").find("became a repository"), std::string::npos) << "it is said once";
  EXPECT_EQ(projects(), (Rows{"shop|shop/.git"}));
  EXPECT_EQ(m.rows("SELECT DISTINCT project FROM sdk_sessions"), (Rows{"shop"}));
}

TEST_F(ProjectIdentity, ADirectoryThatBecameARepositoryWhileNobodyLookedKeepsItsMemory) {
  fs::create_directories(dir / "shop");
  work("shop", "start the shop");
  repository("shop");
  EXPECT_EQ(must(m.run("sessions.list", Json::object({{"cwd", dir / "shop"}})))["sessions"].items().size(),
            1u);
  work("shop", "go on");
  EXPECT_TRUE(is_given("start the shop")) << given;
  EXPECT_EQ(projects(), (Rows{"shop|shop/.git"}));
}

TEST_F(ProjectIdentity, ADirectoryThatBecomesAPartOfARepositoryIsLinkedWithIt) {
  fs::create_directories(dir / "shop/cart");
  work("shop/cart", "start the cart");
  repository("shop");
  const std::string notice = work("shop/cart", "go on");
  EXPECT_TRUE(is_given("start the cart")) << given;
  EXPECT_NE(notice.find("linked with project \"cart\""), std::string::npos) << notice;
  EXPECT_EQ(projects(), (Rows{"cart|shop/cart", "shop|shop/.git"}));
  must(m.run("projects.unlink", Json::object({{"name", "shop"}, {"other", "cart"}})));
  work("shop/cart", "and on");
  EXPECT_FALSE(is_given("start the cart")) << "what the user took apart stays apart";
}

TEST_F(ProjectIdentity, ARepositoryThatLosesItsGitDirectoryKeepsItsMemory) {
  repository("shop");
  work("shop", "start the shop");
  fs::remove_all(dir / "shop/.git");
  work("shop", "go on");
  EXPECT_TRUE(is_given("start the shop")) << given;
  EXPECT_EQ(projects().size(), 1u);
}

TEST_F(ProjectIdentity, ARenamedRepositoryTakesItsMemoryAlong) {
  repository("shop");
  work("shop", "start the shop");
  fs::rename(dir / "shop", dir / "store");
  EXPECT_EQ(must(m.run("sessions.list", Json::object({{"cwd", dir / "store"}})))["sessions"].items().size(),
            1u)
      << "a read finds it before any session began there";
  EXPECT_EQ(projects(), (Rows{"shop|shop/.git"})) << "and changes nothing";
  const std::string notice = work("store", "go on");
  EXPECT_TRUE(is_given("start the shop")) << given;
  EXPECT_NE(notice.find("the memory of \"" + dir.path() + "/shop\" moved here"), std::string::npos) << notice;
  EXPECT_EQ(projects(), (Rows{"store|store/.git"}));
  EXPECT_EQ(m.rows("SELECT DISTINCT project FROM sdk_sessions"), (Rows{"store"}));
  EXPECT_EQ(m.rows("SELECT DISTINCT project FROM session_summaries"), (Rows{"store"}));
  const Json found = must(m.run("search", Json::object({{"query", "start"}, {"project", "shop"}})));
  EXPECT_FALSE(found["results"].items().empty()) << "its old name still finds it";
}

TEST_F(ProjectIdentity, ANameThatWasGivenStaysWhenTheRepositoryMoves) {
  repository("shop");
  work("shop", "start the shop");
  must(m.run("projects.rename", Json::object({{"name", "shop"}, {"new_name", "The Shop"}})));
  fs::create_directories(dir / "elsewhere");
  fs::rename(dir / "shop", dir / "elsewhere/shop");
  work("elsewhere/shop", "go on");
  EXPECT_EQ(projects(), (Rows{"The Shop|elsewhere/shop/.git"}));
}

TEST_F(ProjectIdentity, ANameThatIsTakenAtTheNewPlaceIsMadeUnique) {
  fs::create_directories(dir / "a");
  repository("a/shop", "other");
  repository("market");
  work("a/shop", "one");
  work("market", "two");
  fs::create_directories(dir / "b");
  fs::rename(dir / "market", dir / "b/shop");
  work("b/shop", "three");
  EXPECT_EQ(projects(), (Rows{"shop|a/shop/.git", "b/shop|b/shop/.git"}));
}

TEST_F(ProjectIdentity, ADirectoryThatAPersonGaveToAProjectBelongsToIt) {
  repository("shop");
  repository("market", "other");
  fs::create_directories(dir / "notes");
  work("shop", "one");
  work("market", "two");
  must(m.run("projects.merge", Json::object({{"name", "market"}, {"other", "shop"}})));
  must(m.run("projects.alias", Json::object({{"project", "shop"}, {"path", dir / "notes"}})));
  work("market", "three");
  work("notes", "four");
  must(m.drain());
  EXPECT_EQ(projects(), (Rows{"shop|shop/.git"}));
  EXPECT_EQ(m.rows("SELECT DISTINCT project FROM sdk_sessions"), (Rows{"shop"}));
}

TEST_F(ProjectIdentity, TwoLiveClonesStayApartAndALinkIsSuggestedOnce) {
  repository("shop");
  work("shop", "start the shop");
  run("git clone -q shop twin");
  const std::string notice = work("twin", "try something");
  EXPECT_FALSE(is_given("start the shop")) << given;
  EXPECT_NE(notice.find("looks like project \"shop\""), std::string::npos) << notice;
  EXPECT_EQ(projects(), (Rows{"shop|shop/.git", "twin|twin/.git"}));
  EXPECT_EQ(work("twin", "go on").find("looks like"), std::string::npos);
  EXPECT_EQ(m.number("SELECT count(*) FROM project_links WHERE state = 'suggested'"), 1);
}

TEST_F(ProjectIdentity, SeveralCandidatesAreSuggestedAndNoneIsTaken) {
  repository("shop");
  run("git clone -q shop one && git clone -q shop two && git -C one remote remove origin && "
      "git -C two remote remove origin");
  work("one", "in one");
  work("two", "in two");
  must(m.db().run("DELETE FROM project_links"));
  fs::rename(dir / "one", dir / "three");
  fs::remove_all(dir / "two");
  work("three", "in three");
  EXPECT_FALSE(is_given("in one")) << given;
  EXPECT_EQ(projects().size(), 3u);
  EXPECT_EQ(m.number("SELECT count(*) FROM project_links WHERE state = 'suggested'"), 2);
}

TEST_F(ProjectIdentity, AnotherRemoteMakesItUncertain) {
  repository("shop");
  run("git -C shop remote add origin https://host/acme/shop.git");
  work("shop", "start the shop");
  run("git clone -q shop fork && git -C fork remote set-url origin https://host/dev/shop.git && rm -rf shop");
  work("fork", "go on");
  EXPECT_FALSE(is_given("start the shop")) << given;
  EXPECT_EQ(m.rows("SELECT reason FROM project_links"), (Rows{"same first commit"}));
}

TEST_F(ProjectIdentity, ARepositoryThatIsClonedAgainTakesItsMemoryAlong) {
  repository("seed");
  run("git clone -q --bare seed hub.git && git clone -q hub.git shop");
  work("shop", "start the shop");
  EXPECT_EQ(m.text("SELECT remote FROM projects"), dir / "hub");
  run("rm -rf shop && mkdir new && git clone -q hub.git new/shop");
  work("new/shop", "go on");
  EXPECT_TRUE(is_given("start the shop")) << given;
  EXPECT_EQ(projects(), (Rows{"shop|new/shop/.git"}));
}

TEST_F(ProjectIdentity, AnotherRepositoryAtAnOldPathIsAnotherProject) {
  repository("shop");
  work("shop", "start the shop");
  fs::rename(dir / "shop", dir / "store");
  work("store", "go on");
  repository("shop", "unrelated");
  work("shop", "begin anew");
  EXPECT_FALSE(is_given("start the shop")) << given;
  EXPECT_EQ(projects(), (Rows{"store|store/.git", "shop|shop/.git"}));
}

TEST_F(ProjectIdentity, ASessionOfADeletedWorktreeBelongsToItsRepository) {
  repository("shop");
  run("git -C shop worktree add -q -b feature ../shop-feature");
  work("shop-feature", "build the feature");
  test::Chat late = chat("shop-feature/src");  // its events wait in the inbox until the worktree is gone
  m.deliver(late.start());
  m.deliver(late.prompt("finish the feature"));
  m.deliver(late.stop("The feature is finished."));
  run("git -C shop worktree remove --force ../shop-feature");
  must(m.drain());
  EXPECT_EQ(projects(), (Rows{"shop|shop/.git"}));
  work("shop", "what now");
  EXPECT_TRUE(is_given("The feature is finished.")) << given;
  EXPECT_EQ(must(m.run("sessions.list", Json::object({{"project", "shop"}})))["sessions"].items().size(), 3u);
}

TEST_F(ProjectIdentity, ProjectsOfAnOlderVersionThatAreOneAreLinked) {
  fs::create_directories(dir / "shop");
  work("shop", "start the shop");
  repository("shop");
  // As it was before: the directory and the repository were two projects.
  must(
      m.db().run("INSERT INTO projects(uuid, key, name, root, created_at, created_at_epoch) VALUES('u', ?, "
                 "'x/shop', ?, '', 0)",
                 dir / "shop/.git", dir / "shop"));
  must(m.db().run("UPDATE projects SET is_due = 1"));
  must(m.drain());
  const std::string notice = work("shop", "go on");
  EXPECT_TRUE(is_given("start the shop")) << given;
  EXPECT_NE(notice.find("linked with project \"shop\""), std::string::npos) << notice;
}

TEST_F(ProjectIdentity, WhatIsFoundLateIsLinked) {
  repository("shop");
  work("shop", "start the shop");
  fs::rename(dir / "shop", dir / "store");
  // As if the history had been too long to be read while the session waited.
  must(m.db().run("UPDATE projects SET root_commit = 'x' || root_commit"));
  test::Chat one = chat("store");
  m.ask(one.start());
  EXPECT_EQ(projects().size(), 2u);
  must(m.db().run("UPDATE projects SET root_commit = substr(root_commit, 2) WHERE name = 'shop'"));
  must(m.db().run(
      "UPDATE projects SET root_commit = NULL, head_commit = NULL, is_due = 1 WHERE name = 'store'"));
  must(m.drain());
  work("store", "go on");
  EXPECT_TRUE(is_given("start the shop")) << given;
}

TEST_F(ProjectIdentity, AnAmendedFirstCommitIsNoticed) {
  repository("shop");
  work("shop", "start the shop");
  const std::string before = m.text("SELECT root_commit FROM projects");
  run("git -C shop commit -q --amend --allow-empty -m other");
  work("shop", "go on");
  EXPECT_NE(m.text("SELECT root_commit FROM projects"), before);
}

TEST_F(ProjectIdentity, CaptureThatIsOffForADirectoryStaysOffWhenItBecomesARepository) {
  fs::create_directories(dir / "shop");
  m.put_file("/home/dev/cairn/config.toml", "[capture]\nprojects_off = [\"" + dir.path() + "/shop\"]\n");
  m.engine->reload();
  repository("shop");
  work("shop", "something private");
  EXPECT_EQ(projects(), Rows{});
}

}  // namespace
}  // namespace cairn::intake
