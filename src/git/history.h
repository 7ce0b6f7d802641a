// Finds a repository's first commit and its remote, which stay the same when it is moved, renamed or cloned
// again. Reads git's files: starts no git process, follows no configuration, writes nothing.
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

// Git's commit-graph file: a table of commits and their first parents. `git gc` writes it.
class CommitGraph {
 public:
  // Opens the graph of a repository. When there is none, find() finds nothing.
  CommitGraph(os::Disk& disk, const std::string& common);
  ~CommitGraph();

  // The position of a commit; nothing when it is not in the graph.
  std::optional<std::uint32_t> find(const ObjectId& commit);
  // The first parent of the commit at `position`; nothing when it has none. `corrupt` when the file is
  // damaged.
  Result<std::optional<std::uint32_t>> parent(std::uint32_t position);
  Result<ObjectId> id(std::uint32_t position);

 private:
  struct File;
  void add(os::Disk& disk, const std::string& path);
  const File* file_of(std::uint32_t position) const;

  std::vector<std::unique_ptr<File>> files_;  // oldest first: positions are counted through all files
};

// Follows first parents from a commit to the one that has none, in pieces. Belongs to one thread.
class RootSearch {
 public:
  // `git_dir`: the worktree's own part of .git. `known_head`, `known_root`: what an earlier search started
  // from and found, both in hex; the search ends when it meets `known_head`.
  RootSearch(os::Disk& disk, const std::string& common, const std::string& git_dir,
             std::optional<std::string> known_head = {}, std::optional<std::string> known_root = {});
  ~RootSearch();

  // Continues for at most `commits` commits and until `deadline` (boot ns). True: it is finished. It ends
  // without a result after 500,000 commits, and in a shallow clone, which lacks the first commits.
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

// A remote's address in that form; empty when it cannot be parsed.
std::string plain_remote(std::string_view url);

}  // namespace cairn::git
