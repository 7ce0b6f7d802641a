// Where a repository's history begins and which remote it has: what stays when it is moved, renamed or cloned
// again. Read from git's files: no git process, no configuration obeyed, nothing written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/objects.h"
#include "os/clock.h"
#include "os/disk.h"

namespace cairn::git {

// Git's commit-graph: for the commits in it, their first parents in a table. `git gc` writes it.
class CommitGraph {
 public:
  // Opens the graph of a repository; without one, nothing is found in it.
  CommitGraph(os::Disk& disk, const std::string& common);
  ~CommitGraph();

  // Where a commit stands; nothing when it is not in the graph.
  std::optional<std::uint32_t> find(const ObjectId& commit);
  // The first parent of the commit at `position`; nothing when it has none. `corrupt` when the file is
  // damaged.
  Result<std::optional<std::uint32_t>> parent(std::uint32_t position);
  Result<ObjectId> id(std::uint32_t position);

 private:
  struct File;
  void add(os::Disk& disk, const std::string& path);
  const File* file_of(std::uint32_t position) const;

  std::vector<std::unique_ptr<File>> files_;  // the oldest first: positions count through all of them
};

// Follows first parents from a commit to the one that has none, in pieces. Belongs to one thread.
class RootSearch {
 public:
  // `git_dir`: the worktree's own part of .git. `known_head`, `known_root`: what an earlier search started
  // from and found, both in hex; the search ends when it meets `known_head`.
  RootSearch(os::Disk& disk, const std::string& common, const std::string& git_dir,
             std::optional<std::string> known_head = {}, std::optional<std::string> known_root = {});
  ~RootSearch();

  // Goes on for at most `commits` commits and until `deadline` (boot ns). True: it is finished. After
  // 500,000 commits it ends without a result, and so it does in a shallow clone, where the first commits are
  // missing.
  bool step(std::size_t commits, os::Clock& clock, std::int64_t deadline);

  // In hex; nothing before the first commit.
  const std::optional<std::string>& head() const { return head_; }
  // In hex; nothing when it was not found, or not yet.
  const std::optional<std::string>& root() const { return root_; }

 private:
  bool one();

  Objects objects_;
  CommitGraph graph_;
  std::optional<std::string> known_head_, known_root_, head_, root_;
  ObjectId at_;
  std::optional<std::uint32_t> position_;  // in the graph, once `at_` is in it
  std::size_t read_ = 0;
  bool is_done_ = false;
};

// The address of the remote `origin`, else of the first one, as host and path ("github.com/acme/shop") or as
// a path: no user, password, query, nor the ".git" at its end. Nothing when there is none.
std::optional<std::string> remote_of(os::Disk& disk, const std::string& common);

// A remote's address in that form; empty when it makes no sense.
std::string plain_remote(std::string_view url);

}  // namespace cairn::git
