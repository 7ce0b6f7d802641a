#include "recall/freshness.h"

#include "git/blob.h"

namespace cairn::recall {

namespace {

// A few milliseconds of reading and hashing.
constexpr std::size_t kMostFiles = 100, kFilesOfOne = 8;
constexpr std::uint64_t kMostBytesRead = 4u << 20;
constexpr std::size_t kLargest = 1u << 20;
// Equal to no hash, so a file that is gone counts as changed.
constexpr std::string_view kGone = "gone";

}  // namespace

bool Freshness::has_changed(const store::BoundFile& file) {
  const auto path = git::path_below(file.root, file.path);
  if (!path) return false;
  auto tree = trees_.find(file.root);
  if (tree == trees_.end()) {
    const auto stat = disk_.stat(file.root);
    tree = trees_.emplace(file.root, stat && stat->is_dir).first;
  }
  // A working tree that is not here says nothing: otherwise each of its files would count as gone.
  if (!tree->second) return false;
  auto known = blobs_.find(*path);
  if (known == blobs_.end()) {
    if (++files_ > kMostFiles) return false;
    std::string now;
    const auto stat = disk_.stat(*path);
    if (!stat && stat.error().code == Code::not_found) {
      now = kGone;
    } else if (stat && !stat->is_dir && stat->size <= kLargest && bytes_ + stat->size <= kMostBytesRead) {
      bytes_ += stat->size;
      now = git::blob_of_file(disk_, *path, kLargest).value_or("");
    }
    known = blobs_.emplace(*path, std::move(now)).first;
  }
  return !known->second.empty() && known->second != file.blob;
}

Result<std::vector<std::string>> Freshness::changed(std::int64_t observation) {
  std::vector<std::string> paths;
  for (const store::BoundFile& file : TRY(store::bound_files(db_, observation, kFilesOfOne)))
    if (has_changed(file)) paths.push_back(file.path);
  return paths;
}

}  // namespace cairn::recall
