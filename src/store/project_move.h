// Renames a project, merges two projects, or gives a project another path.
//
// Tables with a column `project` store the project's name. When a name changes, ProjectMover changes those
// rows in short steps. Until it is done, the old name is a project of its own, and reads of either name show
// both (projects.moves_to, project_names). Looking up the old name or path finds the new project at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/projects.h"
#include "store/sql.h"

namespace cairn::store {

// These two run in the caller's transaction and take the same time however much is remembered.
//
// Renames a project. `invalid` when the name is empty, too long or has control characters, `busy` when a
// project has that name, also an old name whose rows still move, or while rows move to this project.
Status rename_project(Db& db, const Project& project, const std::string& name, WallTime now);
// Makes everything of `from` belong to `into`. Unlike a link, this cannot be undone.
Status merge_projects(Db& db, const Project& from, const Project& into, WallTime now);

// Gives the project another name without a check or an entry in its history. For projects.cpp.
Status start_rename(Db& db, const Project& project, const std::string& name);

// Moves the rows of projects whose name changed. Belongs to the writer's thread.
class ProjectMover {
 public:
  explicit ProjectMover(Db& db) : db_(db) {}

  // Moves some rows, in a transaction of its own. False: no project is moving.
  Result<bool> step();

 private:
  Status step_in_transaction();
  Status move_piece(const std::string& table);

  Db& db_;
  std::int64_t from_ = 0;  // the project that is moving; 0: none
  std::string old_name_, new_name_;
  std::vector<std::string> tables_;  // still to be moved; the last one is next
  std::int64_t done_to_ = 0;         // rows of tables_.back() up to this rowid are done
};

// Whether any project is moving.
Result<bool> is_moving(Db& db);
// Fails with `busy` while another project is moving to this one.
Status check_settled(Db& db, const Project& project);

// Makes sessions at `path` belong to the project from now on. Fails with `invalid` when another project is
// there.
Status add_alias(Db& db, const Project& project, const std::string& key, const std::string& path,
                 WallTime now);

// Moves the sessions that worked in `path` or below it, with all their rows, from one project to another.
// Returns how many sessions. `busy` while another project is moving to `from`.
Result<std::int64_t> move_sessions(Db& db, const Project& from, const Project& to, const std::string& path);

}  // namespace cairn::store
