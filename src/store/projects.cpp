#include "store/projects.h"

#include "base/ids.h"

namespace cairn::store {

Result<std::optional<std::string>> find_project(Db& db, const std::string& key) {
  return db.text("SELECT name FROM projects WHERE key = ?", key);
}

static std::string with_parent(const std::string& root, const std::string& name) {
  const auto end = root.find_last_of('/');
  if (end == std::string::npos || end == 0) return name;
  const auto begin = root.find_last_of('/', end - 1);
  return root.substr(begin + 1, end - begin - 1) + "/" + name;
}

static Result<std::string> free_name(Db& db, const Place& place) {
  const std::string plain = place.name.empty() ? "unnamed" : place.name;
  const std::string longer = with_parent(place.root, plain);
  for (int n = 0;; ++n) {
    std::string name = n == 0 ? plain : longer;
    if (n > 1) name += "-" + std::to_string(n);
    if (!TRY(db.integer("SELECT 1 FROM projects WHERE name = ?", name))) return name;
  }
}

Result<std::string> project_name(Db& db, const Place& place, WallTime now) {
  if (auto known = TRY(find_project(db, place.key))) return *known;
  std::string name = TRY(free_name(db, place));
  TRY(db.run("INSERT INTO projects(uuid, key, name, root, created_at, created_at_epoch) VALUES(?,?,?,?,?,?)",
             new_uuid(epoch_ms(now)), place.key, name, place.root, iso8601(now), epoch_ms(now)));
  return name;
}

}  // namespace cairn::store
