#include "git/worktrees.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "git/repository.h"
#include "os/path.h"

namespace cairn::git {

namespace {

// Each costs a few calls: a directory with very many of them must not delay everything else.
constexpr std::size_t kMostNeighbours = 500;
constexpr std::size_t kMostWorktrees = 500;
constexpr std::size_t kMostRefs = 8u << 20;

std::string name_of_path(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_in(const std::string& path, const std::string& directory) {
  return path == directory || path.starts_with(directory + "/");
}

// Whether git has a worktree in its list that `path` is or was in. Each has a file `gitdir` with the path of
// the worktree's .git file.
bool lists_worktree(os::Disk& disk, const std::string& common, const std::string& path) {
  const auto names = disk.list(common + "/worktrees");
  if (!names) return false;
  for (std::size_t i = 0; i < std::min(names->size(), kMostWorktrees); ++i) {
    const auto line = os::read_file(disk, common + "/worktrees/" + (*names)[i] + "/gitdir", 64u << 10);
    if (!line) continue;
    std::string directory(trim(*line));
    if (directory.ends_with("/.git")) directory.resize(directory.size() - 5);
    if (is_in(path, directory)) return true;
  }
  return false;
}

// A branch is a file below refs/heads, or after `git gc` a line of packed-refs. The name is untrusted and
// becomes part of a path.
bool has_branch(os::Disk& disk, const std::string& common, const std::string& branch) {
  if (branch.empty() || branch.find("..") != std::string::npos || branch.starts_with('/')) return false;
  if (disk.stat(common + "/refs/heads/" + branch)) return true;
  const auto packed = os::read_file(disk, common + "/packed-refs", kMostRefs);
  return packed && packed->find(" refs/heads/" + branch + "\n") != std::string::npos;
}

// What follows the repository's name and a separator: "feature" of "shop-feature". Empty: it is called
// otherwise.
std::string suffix_after(const std::string& name, const std::string& repository) {
  if (name.size() < repository.size() + 2 || !name.starts_with(repository)) return "";
  const char separator = name[repository.size()];
  return std::string_view("-_.@+").find(separator) == std::string_view::npos
             ? ""
             : name.substr(repository.size() + 1);
}

// Whether a directory with this suffix is named after the branch: "login" and "fix-login" of "fix/login".
bool is_end_of(const std::string& suffix, const std::string& branch) {
  std::string flat = branch;
  std::replace(flat.begin(), flat.end(), '/', '-');
  return flat == suffix || flat.ends_with("-" + suffix);
}

bool fits_by_name(os::Disk& disk, const std::string& gone, const Repository& repository,
                  const std::string& branch) {
  const std::string name = name_of_path(repository.worktree);
  // REPOSITORY.worktrees/NAME
  if (suffix_after(name_of_path(os::above(gone)), name) == "worktrees") return true;
  const std::string suffix = suffix_after(name_of_path(gone), name);
  if (suffix.empty() || branch.empty()) return false;
  return is_end_of(suffix, branch) || has_branch(disk, repository.common, branch);
}

// The highest directory of the path that does not exist.
std::string top_of_gone(os::Disk& disk, std::string path) {
  for (std::string above = os::above(path); above != path && !disk.stat(above); above = os::above(path))
    path = above;
  return path;
}

}  // namespace

std::string repository_of_deleted_worktree(os::Disk& disk, const std::string& path,
                                           const std::string& branch) {
  if (!path.starts_with('/') || path == "/" || disk.stat(path)) return "";
  const std::string gone = top_of_gone(disk, path);
  std::string best;
  // Beside the highest directory that is gone, and beside the directory that contained it.
  std::vector<std::string> places = {os::above(gone)};
  if (os::above(places.front()) != places.front()) places.push_back(os::above(places.front()));
  for (const std::string& place : places) {
    const auto names = disk.list(place);
    if (!names) continue;
    for (std::size_t i = 0; i < std::min(names->size(), kMostNeighbours); ++i) {
      const std::string neighbour = (place == "/" ? "" : place) + "/" + (*names)[i];
      if (!disk.stat(neighbour + "/.git")) continue;
      const auto repository = find_repository(disk, neighbour);
      if (!repository || repository->directory != repository->common) continue;  // a worktree itself
      if (lists_worktree(disk, repository->common, path)) return repository->worktree;
      // `gone` may be the directory that contained the worktree: then the next part of the path is tried too.
      bool fits = fits_by_name(disk, gone, *repository, branch);
      for (std::string below = path; !fits && below != gone && below.size() > gone.size();
           below = os::above(below))
        fits = os::above(below) == gone && fits_by_name(disk, below, *repository, branch);
      // The longest name wins: "shop-api-login" belongs to "shop-api" rather than to "shop".
      if (fits && repository->worktree.size() > best.size()) best = repository->worktree;
    }
  }
  return best;
}

}  // namespace cairn::git
