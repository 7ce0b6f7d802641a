// Reads git's objects from its files: loose ones, packs, and those of alternates (other repositories). Starts
// no git process, follows no configuration, writes and fetches nothing.
//
// A damaged object or one over 8 MB fails with `corrupt`, a missing one with `not_found`. No content can
// crash it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/index.h"
#include "os/disk.h"

namespace cairn::git {

// Only these kinds are read.
enum class ObjectKind { commit = 1, tree = 2 };

struct Object {
  ObjectKind kind;
  std::string bytes;
};

struct TreeEntry {
  std::uint32_t mode = 0;
  std::string name;
  ObjectId id;
  bool is_tree() const { return mode == 0040000; }
};

// The first parent of a commit; nothing when it has none.
std::optional<ObjectId> first_parent(const Object& commit);

// Belongs to one thread. Keeps the files of packs open.
class Objects {
 public:
  // `common`: the repository's directory, shared by its worktrees.
  Objects(os::Disk& disk, std::string common);
  ~Objects();

  // A commit or a tree.
  Result<Object> read(const ObjectId& id);
  Result<std::vector<TreeEntry>> tree(const ObjectId& id);
  // The commit that a worktree has checked out (`git_dir` is its own part of .git); nothing before the first
  // commit.
  Result<std::optional<ObjectId>> head(const std::string& git_dir) { return resolve(git_dir); }
  // The tree of that commit.
  Result<std::optional<ObjectId>> head_tree(const std::string& git_dir);

 private:
  struct Pack;
  struct Found {
    Pack* pack;
    std::uint64_t offset;
  };

  struct PackedHead {
    int kind = 0;
    std::size_t size = 0;
    std::uint64_t data = 0;
    ObjectId base;                  // of a delta, by its id
    std::uint64_t base_offset = 0;  // or by its position in the same pack
  };

  void add_store(const std::string& objects, int depth);
  std::optional<Found> find(const ObjectId& id);
  Result<PackedHead> read_head(const Found& at);
  Result<Object> read_loose(const ObjectId& id);
  Result<std::optional<ObjectId>> resolve(const std::string& git_dir);
  Result<std::optional<ObjectId>> packed_ref(const std::string& name);

  os::Disk& disk_;
  std::string common_;
  std::vector<std::string> stores_;
  std::vector<std::unique_ptr<Pack>> packs_;
};

}  // namespace cairn::git
