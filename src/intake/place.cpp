#include "intake/place.h"

#include <filesystem>
#include <optional>

#include "gate/private_text.h"
#include "git/repository.h"

namespace cairn::intake {

namespace fs = std::filesystem;

// A branch name is text of the user: it may contain private text, which is removed.
static std::optional<std::string> branch_of(os::Disk& disk, const git::Repository& repository) {
  const auto name = git::current_branch(disk, repository);
  if (!name) return std::nullopt;
  return std::string(gate::remove_private(*name).of(*name));
}

// "site" for /srv/site and for the bare repository /srv/site.git.
static std::string base_name(const fs::path& path) {
  std::string name = path.filename().string();
  if (name.size() > 4 && name.ends_with(".git")) name.resize(name.size() - 4);
  return name;
}

static store::Place place_in_git(os::Disk& disk, const git::Repository& repository) {
  store::Place place;
  const fs::path common = disk.real_path(repository.common);
  // The repository is .git or a hidden bare one (.bare): its parent directory is the project.
  const bool plain = common.filename().string().starts_with('.');
  // A submodule's directory is .git/modules/NAME of its parent, so the worktree gives the name.
  const bool linked = disk.real_path(repository.directory) != common;
  const fs::path root = plain ? common.parent_path() : linked ? common : fs::path(repository.worktree);
  place.key = common.string();
  place.root = root.string();
  place.name = base_name(root);
  place.branch = branch_of(disk, repository);
  place.git_dir = repository.directory;
  if (linked) place.worktree = repository.worktree;
  return place;
}

store::Place resolve_place(os::Disk& disk, const std::string& project_dir, const std::string& cwd) {
  const std::string& given = !project_dir.empty() ? project_dir : !cwd.empty() ? cwd : "/";
  const std::string start = disk.real_path(given);
  store::Place place;
  if (const auto repository = git::find_repository(disk, start)) {
    place = place_in_git(disk, *repository);
    place.start = start;
    return place;
  }
  place.key = place.root = place.start = start;
  place.name = base_name(start);
  return place;
}

bool is_gone(os::Disk& disk, const std::string& path) {
  // A relative path is a name without a place, from another memory (project_without_place).
  if (!path.starts_with('/')) return false;
  const auto stat = disk.stat(path);
  return !stat && stat.error().code == Code::not_found;
}

std::optional<std::string> current_branch(os::Disk& disk, const std::string& directory) {
  const auto repository = git::find_repository(disk, directory);
  return repository ? branch_of(disk, *repository) : std::nullopt;
}

}  // namespace cairn::intake
