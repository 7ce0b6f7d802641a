#include "git/repository.h"

#include <limits.h>

#include <filesystem>

#include "base/text.h"
#include "os/path.h"

namespace cairn::git {

namespace fs = std::filesystem;

// Git's files that are read here have one line. A longer file is something else.
static constexpr std::size_t kMaxLineFile = 64u << 10;

static std::optional<std::string> read_line(os::Disk& disk, const fs::path& path) {
  const auto bytes = os::read_file(disk, path.string(), kMaxLineFile);
  if (!bytes) return std::nullopt;
  return std::string(trim(std::string_view(*bytes).substr(0, bytes->find('\n'))));
}

// The repository whose worktree is exactly this directory.
static std::optional<Repository> open_at(os::Disk& disk, const fs::path& directory) {
  const fs::path dot_git = directory / ".git";
  const auto stat = disk.stat(dot_git.string());
  if (!stat) return std::nullopt;
  if (stat->is_dir) {
    // An empty .git is no repository; git looks further up then, and so do we.
    if (!disk.stat((dot_git / "HEAD").string()).ok()) return std::nullopt;
    return Repository{directory.string(), dot_git.string(), dot_git.string()};
  }
  // A linked worktree or a submodule: the file has the path of its part of another .git.
  const auto line = read_line(disk, dot_git);
  if (!line || !line->starts_with("gitdir:")) return std::nullopt;
  const fs::path own = directory / std::string(trim(std::string_view(*line).substr(7)));
  // Only a linked worktree has a `commondir`; a submodule shares nothing.
  const auto common = read_line(disk, own / "commondir");
  return Repository{directory.string(), own.string(), (common ? own / *common : own).string()};
}

std::optional<Repository> find_repository(os::Disk& disk, const std::string& directory) {
  // A longer path cannot exist, and checking all its parents would take quadratic time.
  if (!directory.starts_with('/') || directory.size() >= PATH_MAX) return std::nullopt;
  for (std::string at = disk.real_path(directory);; at = os::above(at)) {
    if (auto found = open_at(disk, at)) return found;
    if (at == "/") return std::nullopt;
  }
}

std::optional<std::string> current_branch(os::Disk& disk, const Repository& repository) {
  const auto head = read_line(disk, fs::path(repository.directory) / "HEAD");
  constexpr std::string_view kRef = "ref: refs/heads/";
  if (!head || !head->starts_with(kRef)) return std::nullopt;
  return head->substr(kRef.size());
}

}  // namespace cairn::git
