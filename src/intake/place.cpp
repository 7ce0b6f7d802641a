#include "intake/place.h"

#include <filesystem>
#include <optional>

#include "base/text.h"
#include "gate/private_text.h"
#include "os/disk.h"

namespace cairn::intake {

namespace fs = std::filesystem;

// Files of git that are read here are one line; a longer one is not what we think it is.
static constexpr std::size_t kMaxGitFile = 64u << 10;

static std::optional<std::string> read_line(const fs::path& path) {
  os::RealDisk disk;
  auto bytes = os::read_file(disk, path.string(), kMaxGitFile);
  if (!bytes) return std::nullopt;
  return std::string(trim(bytes->substr(0, bytes->find('\n'))));
}

static fs::path real(const fs::path& path) {
  std::error_code failed;
  fs::path resolved = fs::weakly_canonical(path, failed);
  return failed ? path.lexically_normal() : resolved;
}

struct GitDirs {
  fs::path worktree;  // the directory that holds .git
  fs::path git_dir;   // this worktree's own
  fs::path common;    // shared by all worktrees
};

static std::optional<GitDirs> open_git(const fs::path& directory) {
  const fs::path dot_git = directory / ".git";
  std::error_code failed;
  const auto status = fs::status(dot_git, failed);
  if (fs::is_directory(status)) {
    if (!fs::exists(dot_git / "HEAD", failed)) return std::nullopt;
    return GitDirs{directory, dot_git, dot_git};
  }
  if (!fs::is_regular_file(status)) return std::nullopt;
  const auto line = read_line(dot_git);
  if (!line || !line->starts_with("gitdir:")) return std::nullopt;
  const fs::path git_dir = directory / std::string(trim(std::string_view(*line).substr(7)));
  const auto common = read_line(git_dir / "commondir");
  return GitDirs{directory, git_dir, common ? git_dir / *common : git_dir};
}

static std::optional<GitDirs> find_git(const fs::path& start) {
  for (fs::path directory = start;; directory = directory.parent_path()) {
    if (auto found = open_git(directory)) return found;
    if (directory == directory.parent_path()) return std::nullopt;
  }
}

static std::optional<std::string> branch_of(const fs::path& git_dir) {
  const auto head = read_line(git_dir / "HEAD");
  constexpr std::string_view kRef = "ref: refs/heads/";
  if (!head || !head->starts_with(kRef)) return std::nullopt;
  const std::string name = head->substr(kRef.size());
  return std::string(gate::remove_private(name).of(name));
}

static std::string base_name(const fs::path& path) {
  std::string name = path.filename().string();
  if (name.size() > 4 && name.ends_with(".git")) name.resize(name.size() - 4);
  return name;
}

static store::Place place_in_git(const GitDirs& git) {
  store::Place place;
  const fs::path common = real(git.common);
  // .git, or a bare repository kept out of sight as .bare: the directory around it is the project's.
  const bool plain = common.filename().string().starts_with('.');
  // A submodule's directory is .git/modules/NAME of its parent: its own worktree names it.
  const bool linked = real(git.git_dir) != common;
  const fs::path root = plain ? common.parent_path() : linked ? common : real(git.worktree);
  place.key = common.string();
  place.root = root.string();
  place.name = base_name(root);
  place.branch = branch_of(git.git_dir);
  if (linked) place.worktree = real(git.worktree).string();
  return place;
}

store::Place resolve_place(const std::string& project_dir, const std::string& cwd) {
  const fs::path start = real(!project_dir.empty() ? project_dir : !cwd.empty() ? cwd : "/");
  if (start.is_absolute())
    if (auto git = find_git(start)) return place_in_git(*git);
  store::Place place;
  place.key = place.root = start.string();
  place.name = base_name(start);
  return place;
}

std::optional<WorkingTree> git_of(const std::string& directory) {
  if (directory.empty()) return std::nullopt;
  const auto git = find_git(real(directory));
  if (!git) return std::nullopt;
  return WorkingTree{git->worktree.string(), git->git_dir.string(), git->common.string()};
}

std::optional<std::string> current_branch(const std::string& directory) {
  if (directory.empty()) return std::nullopt;
  const auto git = find_git(real(directory));
  return git ? branch_of(git->git_dir) : std::nullopt;
}

}  // namespace cairn::intake
