#include "intake/local_rules.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "base/json.h"
#include "base/toml.h"
#include "intake/place.h"
#include "os/disk.h"

namespace cairn::intake {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxFile = 64u << 10;
constexpr std::size_t kMaxDirectories = 1000;  // remembered; then it begins anew

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> out;
  for (const Json& item : list.items())
    if (item.is_string()) out.emplace_back(item.as_string());
  return out;
}

// The directory that holds .git, else the directory itself.
std::string root_of(const std::string& directory) {
  std::error_code failed;
  for (fs::path at = directory;; at = at.parent_path()) {
    if (fs::exists(at / ".git", failed) || fs::exists(at / kLocalFile, failed)) return at.string();
    if (at == at.parent_path()) return directory;
  }
}

struct Cache {
  struct Known {
    std::string root, key;
  };
  struct File {
    std::int64_t modified_ns = -1;
    std::uint64_t size = 0;
    gate::LocalRules rules;
  };
  std::vector<std::string> projects_off;
  std::map<std::pair<std::string, std::string>, Known> directories;
  std::map<std::string, File> files;  // by root

  const Known& known(const std::string& project_dir, const std::string& cwd) {
    if (directories.size() > kMaxDirectories) directories.clear();
    const auto [at, fresh] = directories.try_emplace({project_dir, cwd});
    if (fresh) {
      at->second.root = root_of(project_dir.empty() ? cwd : project_dir);
      if (!projects_off.empty()) at->second.key = resolve_place(project_dir, cwd).key;
    }
    return at->second;
  }

  const gate::LocalRules& rules_in(const std::string& root) {
    os::RealDisk disk;
    const std::string path = root + "/" + std::string(kLocalFile);
    const auto stat = disk.stat(path);
    if (files.size() > kMaxDirectories) files.clear();
    File& file = files[root];
    if (!stat || stat->is_dir) return (file = File{}).rules;
    if (file.modified_ns == stat->modified_ns && file.size == stat->size) return file.rules;
    const auto bytes = os::read_file(disk, path, kMaxFile);
    file = {
        stat->modified_ns, stat->size,
        bytes ? read_local_rules(*bytes, path) : gate::LocalRules{path + " cannot be read", path, {}, {}}};
    return file.rules;
  }

  gate::LocalRules find(const std::string& project_dir, const std::string& cwd) {
    if (project_dir.empty() && cwd.empty()) return {};
    const Known place = known(project_dir, cwd);
    if (std::find(projects_off.begin(), projects_off.end(), place.key) != projects_off.end() &&
        !place.key.empty())
      return {"capture is off for this project", "", {}, {}};
    return rules_in(place.root);
  }
};

}  // namespace

gate::LocalRules read_local_rules(std::string_view toml, const std::string& path) {
  const auto table = read_toml(toml, path);
  if (!table) return {path + " is not TOML", path, {}, {}};
  gate::LocalRules rules{"", path, texts((*table)["skip_tools"]), texts((*table)["exclude"])};
  const Json& capture = (*table)["capture"];
  if (capture.is_bool() && !capture.as_bool()) rules.off = path + " says capture = false";
  return rules;
}

gate::FindLocalRules find_local_rules(std::vector<std::string> projects_off) {
  auto cache = std::make_shared<Cache>();
  cache->projects_off = std::move(projects_off);
  return [cache](const std::string& project_dir, const std::string& cwd) {
    return cache->find(project_dir, cwd);
  };
}

}  // namespace cairn::intake
