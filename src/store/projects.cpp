#include "store/projects.h"

#include "base/ids.h"
#include "store/project_move.h"
#include "store/rows.h"

namespace cairn::store {

#define PROJECT \
  "SELECT p.id, p.key, p.name, p.root, p.root_commit, p.remote, p.head_commit, p.uuid FROM projects p "

static Project read_project(Stmt& row) {
  Project p;
  read_columns(row, p.id, p.key, p.name, p.root, p.root_commit, p.remote, p.head_commit, p.uuid);
  return p;
}

static std::string base_of(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

// "/src/work/api", "api" -> "work/api"; "/api", "api" -> "api"
static std::string with_parent(const std::string& root, const std::string& name) {
  const auto end = root.find_last_of('/');
  if (end == std::string::npos || end == 0) return name;
  const auto begin = root.find_last_of('/', end - 1);
  return root.substr(begin + 1, end - begin - 1) + "/" + name;
}

// The first of "api", "work/api", "work/api-2", "work/api-3", ... that no other project has. `own`: the
// project to be named; it may keep its own name.
static Result<std::string> free_name(Db& db, const Place& place, std::int64_t own) {
  const std::string plain = place.name.empty() ? "unnamed" : place.name;
  const std::string longer = with_parent(place.root, plain);
  for (int n = 0;; ++n) {
    std::string name = n == 0 ? plain : longer;
    if (n > 1) name += "-" + std::to_string(n);
    if (!TRY(db.integer("SELECT 1 FROM projects WHERE name = ? AND id <> ?", name, own))) return name;
  }
}

Result<Project> add_project(Db& db, const Place& place, WallTime now) {
  const std::string name = TRY(free_name(db, place, 0));
  TRY(db.run("INSERT INTO projects(uuid, key, name, root, created_at, created_at_epoch) VALUES(?,?,?,?,?,?)",
             new_uuid(epoch_ms(now)), place.key, name, place.root, iso8601(now), epoch_ms(now)));
  auto added = TRY(find_project(db, db.last_insert_rowid()));
  CAIRN_ASSERT(added.has_value());
  return *std::move(added);
}

Result<std::optional<Project>> find_project(Db& db, std::int64_t id) {
  return first(db.query(PROJECT "WHERE p.id = ?", id), read_project);
}

Result<std::optional<Project>> project_by_key(Db& db, const std::string& key) {
  return first(db.query(PROJECT "WHERE p.key = ?", key), read_project);
}

Result<std::optional<Project>> project_by_name(Db& db, const std::string& name) {
  if (auto found =
          TRY(first(db.query(PROJECT "WHERE p.name = ? AND p.moves_to IS NULL", name), read_project)))
    return found;
  return first(
      db.query(
          PROJECT
          "JOIN project_history h ON h.project_id = p.id WHERE h.old_name = ? ORDER BY h.id DESC LIMIT 1",
          name),
      read_project);
}

Result<std::optional<Project>> project_by_root(Db& db, const std::string& root) {
  return first(
      db.query(
          PROJECT
          "WHERE p.root = ? AND p.moves_to IS NULL ORDER BY (SELECT max(started_at_epoch) FROM sdk_sessions "
          "WHERE project = p.name) DESC, p.id DESC LIMIT 1",
          root),
      read_project);
}

Result<std::optional<Project>> project_by_alias(Db& db, const std::string& key) {
  return first(
      db.query(PROJECT "JOIN project_history h ON h.project_id = p.id WHERE h.old_key = ? AND h.made_by "
                       "= 'user' AND h.what = 'moved' ORDER BY h.id DESC LIMIT 1",
               key),
      read_project);
}

Result<std::optional<Project>> project_by_old_place(Db& db, const Place& place) {
  auto found = TRY(first(
      db.query(PROJECT
               "JOIN project_history h ON h.project_id = p.id WHERE h.old_key = ? ORDER BY h.id DESC LIMIT 1",
               place.key),
      read_project));
  if (found) return found;
  return first(
      db.query(
          PROJECT
          "JOIN project_history h ON h.project_id = p.id WHERE h.old_root = ? ORDER BY h.id DESC LIMIT 1",
          place.root),
      read_project);
}

// Tries the directory, then its parents: a session may have begun below the worktree.
Result<std::optional<Project>> project_by_worktree(Db& db, const std::string& directory) {
  for (std::string at = directory; at.size() > 1; at.resize(at.find_last_of('/'))) {
    auto found = TRY(first(
        db.query(PROJECT
                 "JOIN sdk_sessions s ON s.project = p.name WHERE s.worktree = ? ORDER BY s.id DESC LIMIT 1",
                 at),
        read_project));
    if (found) return found;
    if (at.find('/') == std::string::npos) break;
  }
  return std::optional<Project>();
}

Result<std::vector<Project>> projects_with_root_commit(Db& db, const std::string& commit) {
  return all(db.query(PROJECT "WHERE p.root_commit = ? ORDER BY p.id", commit), read_project);
}

Result<std::vector<Project>> projects_with_remote(Db& db, const std::string& remote) {
  return all(db.query(PROJECT "WHERE p.remote = ? ORDER BY p.id", remote), read_project);
}

Status set_lineage(Db& db, std::int64_t project, const std::optional<std::string>& root_commit,
                   const std::optional<std::string>& remote, const std::optional<std::string>& head_commit) {
  return db.run("UPDATE projects SET root_commit = ?, remote = ?, head_commit = ? WHERE id = ?", root_commit,
                remote, head_commit, project);
}

Status set_due(Db& db, const std::string& project) {
  return db.run("UPDATE projects SET is_due = 1 WHERE name = ? AND is_due = 0", project);
}

Status set_looked_at(Db& db, std::int64_t project) {
  return db.run("UPDATE projects SET is_due = 0 WHERE id = ?", project);
}

Result<std::optional<Project>> next_due(Db& db) {
  return first(db.query(PROJECT "WHERE p.is_due = 1 AND p.moves_to IS NULL ORDER BY p.id DESC LIMIT 1"),
               read_project);
}

// Whether the name was made from the directory, not chosen by a person.
static bool is_made_of(const std::string& name, const std::string& root) {
  const std::string base = base_of(root), longer = with_parent(root, base);
  return name == base || name == longer || name.starts_with(longer + "-");
}

Status move_project(Db& db, const Project& project, const Place& to, ProjectStep what, WallTime now) {
  if (const auto other = TRY(project_by_key(db, to.key)); other && other->id != project.id)
    return Error{Code::busy, to.key + " is project \"" + other->name + "\""};
  std::string name = project.name;
  // While rows still move to this project it cannot be renamed: it then keeps its name.
  if (to.root != project.root && is_made_of(project.name, project.root) && check_settled(db, project))
    name = TRY(free_name(db, to, project.id));
  if (name != project.name) TRY(start_rename(db, project, name));
  TRY(db.run("UPDATE projects SET key = ?, root = ?, is_due = 1 WHERE id = ?", to.key, to.root, project.id));
  const auto old_name = name == project.name ? std::nullopt : std::optional(project.name);
  return db.run(
      "INSERT INTO project_history(project_id, what, made_by, old_key, old_root, old_name, at_epoch) "
      "VALUES(?, ?, 'cairn', ?, ?, ?, ?)",
      project.id, name_of(what), project.key, project.root, old_name, epoch_ms(now));
}

Result<std::vector<std::string>> linked_with(Db& db, const std::string& project) {
  return all<std::string>(
      db.query("SELECT m.name FROM projects p JOIN projects m ON m.scope = p.scope AND m.id <> p.id WHERE "
               "p.name = ? ORDER BY m.name",
               project));
}

Result<std::vector<std::string>> scope_of(Db& db, const std::string& project) {
  std::vector<std::string> names = {project};
  Stmt row = TRY(db.query(
      "SELECT member FROM project_scope WHERE project = ?1 AND member <> ?1 ORDER BY member", project));
  while (TRY(row.step())) names.push_back(row.text(0));
  return names;
}

// While rows move to the project, they count as its own.
#define OWN_NAMES                                                                                         \
  "(SELECT p.name UNION ALL SELECT f.name FROM projects f WHERE f.moves_to = p.id AND f.moves_to IS NOT " \
  "NULL)"
#define TALLY(what) \
  "(SELECT coalesce(sum(count), 0) FROM tallies WHERE what = '" what "' AND project IN " OWN_NAMES ")"

Result<std::vector<ProjectTotals>> project_totals(Db& db, const std::optional<std::string>& name,
                                                  std::int64_t limit) {
  return all(
      db.query("SELECT p.id, p.key, p.name, p.root, p.root_commit, p.remote, p.head_commit, p.uuid, "
               "p.created_at_epoch, " TALLY("session") ", " TALLY("prompt") ", " TALLY("summary") ", " TALLY(
                   "observation") ", (SELECT max(last_event_at_epoch) FROM sdk_sessions WHERE project "
                                  "IN " OWN_NAMES
                                  ") AS last FROM projects p WHERE p.moves_to IS NULL AND (?1 IS NULL OR "
                                  "p.name = ?1) ORDER BY "
                                  "last DESC, p.id DESC LIMIT ?2",
               name, limit),
      [](Stmt& row) {
        ProjectTotals t;
        t.project = read_project(row);
        int column = 8;
        read_column(row, column++, t.since);
        for (std::int64_t* count : {&t.sessions, &t.prompts, &t.summaries, &t.observations})
          read_column(row, column++, *count);
        read_column(row, column, t.last_event_at);
        return t;
      });
}

#define DISTINCT_OF(column)                                                                              \
  "SELECT DISTINCT " column                                                                              \
  " FROM sdk_sessions WHERE project IN (SELECT member FROM project_names WHERE project = ?) AND " column \
  " IS NOT NULL ORDER BY 1 LIMIT 50"

Result<std::vector<std::string>> branches_of(Db& db, const std::string& project) {
  return all<std::string>(db.query(DISTINCT_OF("branch"), project));
}

Result<std::vector<std::string>> worktrees_of(Db& db, const std::string& project) {
  return all<std::string>(db.query(DISTINCT_OF("worktree"), project));
}

}  // namespace cairn::store
