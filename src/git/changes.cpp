#include "git/changes.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>

#include "git/index.h"
#include "git/objects.h"
#include "git/repository.h"
#include "os/disk.h"

namespace cairn::git {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMaxIndex = 16u << 20;
constexpr std::size_t kMaxChanged = 200;
constexpr auto kMaxTime = std::chrono::milliseconds(100);

using Paths = std::set<std::string>;

// By size and time alone, as git does first: reading the contents would take too long. The index has only the
// lower 32 bits of a size. A file that was deleted is changed; one that cannot be looked at is not.
bool is_changed(os::Disk& disk, const std::string& path, const IndexEntry& entry) {
  const auto now = disk.stat(path);
  if (!now) return now.error().code == Code::not_found;
  return static_cast<std::uint32_t>(now->size) != entry.size || now->modified_ns != entry.modified_ns;
}

// The files that differ from the index; nothing when there was no time to check all of them.
std::optional<Paths> changed_since_index(os::Disk& disk, const std::string& worktree, const Index& index,
                                         steady_clock::time_point end) {
  Paths changed;
  std::size_t looked_at = 0;
  for (const IndexEntry& entry : index.entries) {
    if (entry.is_in_conflict || (entry.is_looked_at && is_changed(disk, worktree + "/" + entry.path, entry)))
      changed.insert(entry.path);
    if (++looked_at % 64 == 0 && steady_clock::now() > end) return std::nullopt;
  }
  // Nearly all: the tree was copied, which changes the times, but not the content. A small tree may well have
  // changed completely.
  if (index.entries.size() > 20 && changed.size() * 10 > index.entries.size() * 9) changed.clear();
  return changed;
}

// Compares the index with a tree, directory by directory. Directories whose tree git wrote from this same
// index are skipped: after a commit that is all of them, after `git add` all but those above the file.
class Staged {
 public:
  Staged(Objects& objects, const Index& index, steady_clock::time_point end)
      : objects_(objects), index_(index), is_in_tree_(index.entries.size()), end_(end) {}

  // The files that differ between the index and `tree`; nothing when the tree cannot be read in time.
  std::optional<Paths> against(const std::optional<ObjectId>& tree) {
    if (tree && !compare(*tree, "", 0, index_.entries.size(), 0)) return std::nullopt;
    for (std::size_t i = 0; i < is_in_tree_.size(); ++i)
      if (!is_in_tree_[i]) staged_.insert(index_.entries[i].path);
    return std::move(staged_);
  }

 private:
  // The first entry from `begin` whose path is not before `path`.
  std::size_t first(std::size_t begin, std::size_t end, const std::string& path) const {
    const auto all = index_.entries.begin();
    const auto found =
        std::lower_bound(all + static_cast<std::ptrdiff_t>(begin), all + static_cast<std::ptrdiff_t>(end),
                         path, [](const IndexEntry& e, const std::string& p) { return e.path < p; });
    return static_cast<std::size_t>(found - all);
  }

  // Compares a tree with the entries of the index below `directory`, which are those from `begin` to `end`:
  // entries are sorted by path, so those of a directory are next to each other. False: it cannot be read.
  bool compare(const ObjectId& tree, const std::string& directory, std::size_t begin, std::size_t end,
               int depth) {
    const auto written = index_.written.find(directory);
    if (written != index_.written.end() && written->second == tree) {
      std::fill(is_in_tree_.begin() + static_cast<std::ptrdiff_t>(begin),
                is_in_tree_.begin() + static_cast<std::ptrdiff_t>(end), true);
      return true;
    }
    const auto entries = objects_.tree(tree);
    if (!entries || depth > 100 || staged_.size() > kMaxChanged || steady_clock::now() > end_) return false;
    for (const TreeEntry& entry : *entries) {
      const std::string path = directory.empty() ? entry.name : directory + "/" + entry.name;
      if (!entry.is_tree()) {
        compare_file(entry, path, begin, end);
        // Files below `path` are between path + "/" and path + "0": '0' follows '/' in ASCII.
      } else if (!compare(entry.id, path, first(begin, end, path + "/"), first(begin, end, path + "0"),
                          depth + 1)) {
        return false;
      }
    }
    return true;
  }

  void compare_file(const TreeEntry& entry, const std::string& path, std::size_t begin, std::size_t end) {
    const std::size_t at = first(begin, end, path);
    const bool is_there = at < end && index_.entries[at].path == path;
    if (is_there) is_in_tree_[at] = true;
    if (!is_there || index_.entries[at].blob != entry.id || index_.entries[at].mode != entry.mode)
      staged_.insert(path);
  }

  Objects& objects_;
  const Index& index_;
  std::vector<bool> is_in_tree_;
  steady_clock::time_point end_;
  Paths staged_;
};

}  // namespace

std::vector<std::string> changed_files(os::Disk& disk, const std::string& directory,
                                       const std::vector<std::string>& known) {
  const auto git = find_repository(disk, directory);
  if (!git) return {};
  const auto bytes = os::read_file(disk, git->directory + "/index", kMaxIndex);
  if (!bytes) return {};
  const auto index = read_index(*bytes);
  if (!index) return {};
  // Three sources: files that differ from the index, entries of the index that differ from the last commit,
  // and known files that git does not track. The first two share one limit of time.
  const auto end = steady_clock::now() + kMaxTime;
  const auto in_tree = changed_since_index(disk, git->worktree, *index, end);
  if (!in_tree) return {};
  Paths changed = *in_tree;
  Objects objects(disk, git->common);
  if (const auto head = objects.head_tree(git->directory))
    if (auto staged = Staged(objects, *index, end).against(*head)) changed.merge(*staged);
  std::set<std::string_view> tracked;
  for (const IndexEntry& entry : index->entries) tracked.insert(entry.path);
  for (const std::string& path : known)
    if (!path.starts_with('/') && !path.starts_with("..") && !tracked.contains(path) &&
        disk.stat(git->worktree + "/" + path).ok())
      changed.insert(path);
  std::vector<std::string> paths(changed.begin(), changed.end());
  if (paths.size() > kMaxChanged) paths.resize(kMaxChanged);
  return paths;
}

}  // namespace cairn::git
