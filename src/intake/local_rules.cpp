#include "intake/local_rules.h"

#include <limits.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/json.h"
#include "base/toml.h"
#include "intake/place.h"
#include "os/disk.h"
#include "os/path.h"

namespace cairn::intake {

namespace {

constexpr std::size_t kMaxFile = 64u << 10;
constexpr std::size_t kMaxDirectories = 1000;  // in the cache; then it is emptied

// Adds the value, a text or a list of texts. False: it is something else.
bool add_texts(const Json& value, std::vector<std::string>& out) {
  if (value.is_string()) {
    const std::string_view text = value.as_string();
    // Paths are compared with paths relative to the root: "./docs" means "docs".
    out.emplace_back(text.substr(text.starts_with("./") ? 2 : 0));
    return true;
  }
  if (!value.is_array()) return false;
  return std::all_of(value.items().begin(), value.items().end(),
                     [&](const Json& item) { return item.is_string() && add_texts(item, out); });
}

// Reads the members of `table` into `rules`; returns the name of one with a wrong type, if any.
std::string read_table(const Json& table, gate::LocalRules& rules) {
  for (const Json::Member& member : table.members()) {
    std::string name = member.first;
    // People write skip-tools too, and must not be misunderstood: that would store what they excluded.
    std::replace(name.begin(), name.end(), '-', '_');
    const Json& value = member.second;
    bool understood = true;
    if (name == "exclude") {
      understood = add_texts(value, rules.exclude);
    } else if (name == "skip_tools") {
      understood = add_texts(value, rules.skip_tools);
    } else if (name == "enabled" || (name == "capture" && !value.is_object())) {
      understood = value.is_bool();
      if (understood && !value.as_bool()) rules.off = rules.file + " says " + member.first + " = false";
    } else if (name == "capture") {
      if (std::string wrong = read_table(value, rules); !wrong.empty()) return "capture." + wrong;
    }
    if (!understood) return member.first;
  }
  return "";
}

// The nearest directory, from `directory` upwards, with .git or .cairn.toml; else `directory` itself.
std::string root_of(os::Disk& disk, const std::string& directory) {
  if (directory.size() >= PATH_MAX) return directory;  // a longer path cannot exist
  const auto has = [&](const std::string& at, std::string_view name) {
    return disk.stat(at + "/" + std::string(name)).ok();
  };
  for (std::string at = directory;; at = os::above(at)) {
    if (has(at, ".git") || has(at, kLocalFile)) return at;
    if (at == os::above(at)) return directory;
  }
}

struct Cache {
  explicit Cache(os::Disk& on, std::vector<std::string> off) : disk(on), projects_off(std::move(off)) {}

  struct Known {
    std::string root;
    std::vector<std::string> keys;  // names of the project that projects_off may contain
  };
  struct File {
    std::int64_t modified_ns = -1;
    std::uint64_t size = 0;
    gate::LocalRules rules;
  };
  os::Disk& disk;
  std::vector<std::string> projects_off;
  std::map<std::pair<std::string, std::string>, Known> directories;
  std::map<std::string, File> files;  // by root

  const Known& known(const std::string& project_dir, const std::string& cwd) {
    if (directories.size() > kMaxDirectories) directories.clear();
    const auto [at, fresh] = directories.try_emplace({project_dir, cwd});
    if (fresh) {
      at->second.root = root_of(disk, project_dir.empty() ? cwd : project_dir);
      // Finding the place costs several stat calls; it is needed only when some project is off.
      if (!projects_off.empty()) {
        const store::Place place = resolve_place(disk, project_dir, cwd);
        // The user may have listed the project under its path, before it became a repository.
        at->second.keys = {place.key, place.root};
      }
    }
    return at->second;
  }

  const gate::LocalRules& rules_in(const std::string& root) {
    const std::string path = root + "/" + std::string(kLocalFile);
    const auto stat = disk.stat(path);
    if (files.size() > kMaxDirectories) files.clear();
    File& file = files[root];
    if (!stat || stat->is_dir) return (file = File{}).rules;
    if (file.modified_ns == stat->modified_ns && file.size == stat->size) return file.rules;
    // Too large or unreadable: like an invalid file it may say that nothing is to be stored.
    const auto bytes = os::read_file(disk, path, kMaxFile);
    file = {
        stat->modified_ns, stat->size,
        bytes ? read_local_rules(*bytes, path) : gate::LocalRules{path + " cannot be read", path, {}, {}}};
    return file.rules;
  }

  gate::LocalRules find(const std::string& project_dir, const std::string& cwd) {
    if (project_dir.empty() && cwd.empty()) return {};
    const Known place = known(project_dir, cwd);
    const auto is_off = [&](const std::string& key) {
      return std::count(projects_off.begin(), projects_off.end(), key) > 0;
    };
    if (std::any_of(place.keys.begin(), place.keys.end(), is_off))
      return {"capture is off for this project", "", {}, {}};
    return rules_in(place.root);
  }
};

}  // namespace

gate::LocalRules read_local_rules(std::string_view toml, const std::string& path) {
  const auto table = read_toml(toml, path);
  if (!table) return {path + " is not TOML", path, {}, {}};
  gate::LocalRules rules{"", path, {}, {}};
  if (const std::string wrong = read_table(*table, rules); !wrong.empty())
    rules.off = path + ": " + wrong + " is not understood";
  return rules;
}

gate::FindLocalRules find_local_rules(os::Disk& disk, std::vector<std::string> projects_off) {
  auto cache = std::make_shared<Cache>(disk, std::move(projects_off));
  return [cache](const std::string& project_dir, const std::string& cwd) {
    return cache->find(project_dir, cwd);
  };
}

}  // namespace cairn::intake
