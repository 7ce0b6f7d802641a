// First commits and remotes, compared with the real git.
#include <gtest/gtest.h>

#include "base/text.h"
#include "git/history.h"
#include "git/repository.h"
#include "support/git.h"
#include "support/sim_clock.h"
#include "support/temp_dir.h"

namespace cairn::git {
namespace {

class GitHistory : public testing::Test {
 protected:
  void run(const std::string& commands) { test::run_git(dir, commands); }
  void repository(const std::string& name, int commits) {
    run("git init -q -b trunk " + name + " && cd " + name + " && for i in $(seq " + std::to_string(commits) +
        "); do git commit -q --allow-empty -m c$i; done");
  }
  std::string said(const std::string& command) {
    run(command + " >said");
    const std::string text = test::read_text(dir / "said");
    return std::string(trim(text));
  }
  RootSearch search(const std::string& below, std::optional<std::string> head = {},
                    std::optional<std::string> root = {}) {
    const Repository repository = find_repository(disk, dir / below).value();
    return RootSearch(disk, repository.common, repository.directory, std::move(head), std::move(root));
  }
  std::optional<std::string> root(const std::string& below) {
    RootSearch all = search(below);
    EXPECT_TRUE(all.step(100'000, clock, INT64_MAX));
    return all.root();
  }
  std::string git_says(const std::string& below) {
    return said("git -C " + below + " rev-list --first-parent --max-parents=0 HEAD");
  }

  test::TempDir dir{"history"};
  os::RealDisk disk;
  test::SimClock clock;
};

TEST_F(GitHistory, BeginsWithTheSameCommitHoweverItIsStored) {
  repository("api", 12);
  const std::string first = git_says("api");
  EXPECT_EQ(root("api"), first);
  run("git -C api gc -q");  // packed, with a commit-graph
  ASSERT_TRUE(disk.stat(dir / "api/.git/objects/info/commit-graph").ok());
  EXPECT_EQ(root("api"), first);
  run("git -C api commit -q --allow-empty -m newer");  // beside the graph
  EXPECT_EQ(root("api"), first);
  run("rm api/.git/objects/info/commit-graph");
  EXPECT_EQ(root("api"), first);
  run("git -C api worktree add -q -b other ../api-other && git clone -q --bare api bare.git");
  EXPECT_EQ(root("api-other"), first);
  RootSearch bare(disk, dir / "bare.git", dir / "bare.git");
  EXPECT_TRUE(bare.step(1000, clock, INT64_MAX));
  EXPECT_EQ(bare.root(), first);
}

TEST_F(GitHistory, IsReadFromAChainOfGraphs) {
  repository("api", 6);
  run("cd api && git commit-graph write --split --reachable && git commit -q --allow-empty -m a && "
      "git commit -q --allow-empty -m b && git commit-graph write --split=no-merge --reachable && "
      "test $(wc -l <.git/objects/info/commit-graphs/commit-graph-chain) = 2");
  CommitGraph graph(disk, dir / "api/.git");
  const std::string head = said("git -C api rev-parse HEAD");
  EXPECT_EQ(root("api"), git_says("api"));
  ObjectId id;
  for (std::size_t i = 0; i < head.size(); i += 2)
    id += static_cast<char>(std::stoi(head.substr(i, 2), nullptr, 16));
  EXPECT_TRUE(graph.find(id).has_value());
}

TEST_F(GitHistory, OfAMergeIsThatOfTheFirstParent) {
  repository("api", 2);
  run("cd api && git checkout -q --orphan site && git commit -q --allow-empty -m site && "
      "git checkout -q trunk && git merge -q --allow-unrelated-histories -m both site");
  EXPECT_EQ(root("api"), git_says("api"));
}

TEST_F(GitHistory, IsUnknownBeforeTheFirstCommitAndInAShallowClone) {
  run("git init -q empty");
  EXPECT_EQ(root("empty"), std::nullopt);
  repository("api", 3);
  run("git clone -q --depth 1 file://$PWD/api shallow");
  RootSearch shallow = search("shallow");
  EXPECT_TRUE(shallow.step(10, clock, INT64_MAX));
  EXPECT_EQ(shallow.root(), std::nullopt);
  EXPECT_EQ(shallow.head(), said("git -C api rev-parse HEAD"));
}

TEST_F(GitHistory, IsReadInPiecesAndOnlyWhatIsNew) {
  repository("api", 9);
  RootSearch pieces = search("api");
  int steps = 1;
  while (!pieces.step(2, clock, INT64_MAX)) ++steps;
  EXPECT_EQ(steps, 5);
  EXPECT_EQ(pieces.root(), git_says("api"));
  const auto head = pieces.head();
  run("git -C api commit -q --allow-empty -m newer");
  RootSearch newer = search("api", head, "what was found");
  EXPECT_TRUE(newer.step(2, clock, INT64_MAX));
  EXPECT_EQ(newer.root(), "what was found");
}

TEST_F(GitHistory, ThatIsDamagedIsUnknown) {
  repository("api", 3);
  run("git -C api gc -q");
  const std::string graph = dir / "api/.git/objects/info/commit-graph";
  const std::string bytes = test::read_text(graph);
  for (std::size_t size = 0; size < bytes.size(); size += 37) {
    run("rm -f api/.git/objects/info/commit-graph");
    test::write_file(graph, bytes.substr(0, size));
    RootSearch cut = search("api");
    EXPECT_TRUE(cut.step(1000, clock, INT64_MAX));
  }
  run("rm -rf api/.git/objects/pack api/.git/objects/info/commit-graph");
  EXPECT_EQ(root("api"), std::nullopt);
}

TEST_F(GitHistory, GivesTheRemoteWithoutCredentials) {
  const std::pair<const char*, const char*> kAddresses[] = {
      {"https://github.com/acme/shop.git", "github.com/acme/shop"},
      {"https://dev:s3cret@GitHub.com/acme/shop", "github.com/acme/shop"},
      {"https://s3cret@host:8443/acme/shop.git/?token=s3cret", "host:8443/acme/shop"},
      {"ssh://git@github.com/acme/shop.git", "github.com/acme/shop"},
      {"git@github.com:acme/shop.git", "github.com/acme/shop"},
      {"dev:s3cret@host:acme/shop", "host/acme/shop"},
      {"host:shop", "host/shop"},
      {"./a:b", "./a:b"},
      {"https://a@b:s3cret@host/acme", "host/acme"},
      {"/srv/git/shop.git/", "/srv/git/shop"},
      {"file:///srv/git/shop.git", "/srv/git/shop"},
      {"../shop", "../shop"},
      {"https://", ""},
      {"", ""},
  };
  for (const auto& [url, plain] : kAddresses) {
    EXPECT_EQ(plain_remote(url), plain) << url;
    EXPECT_EQ(plain_remote(url).find("s3cret"), std::string::npos) << url;
  }
  repository("api", 1);
  EXPECT_EQ(remote_of(disk, dir / "api/.git"), std::nullopt);
  run("git -C api remote add fork git@host:dev/api.git");
  EXPECT_EQ(remote_of(disk, dir / "api/.git"), "host/dev/api");
  run("git -C api remote add origin https://u:p@host/acme/api.git");
  EXPECT_EQ(remote_of(disk, dir / "api/.git"), "host/acme/api");
}

}  // namespace
}  // namespace cairn::git
