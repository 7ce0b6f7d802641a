// Projects: one row for each repository or directory that was worked in. The name is what people see, and
// every row has it. The key is the project's location.
//
// Reads are scoped by `scope_of`: a project and those linked with it (project_links.h) are read as one. Rows
// are written under the project they came from. They move only when its name changes (project_move.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

// The location of a session, as intake/place.h finds it.
struct Place {
  std::string key;   // real path of the git common directory, else a directory
  std::string root;  // the main worktree, else that directory
  std::string name;  // its basename; made unique by add_project()
  std::optional<std::string> branch;
  std::optional<std::string> worktree;  // set in a linked worktree: its directory
  std::string git_dir;                  // this worktree's own part of .git; empty: no repository
  std::string start;                    // where the session began
  bool is_git() const { return !git_dir.empty(); }
};

struct Project {
  std::int64_t id = 0;
  std::string key, name, root;
  std::optional<std::string> root_commit;  // hex
  std::optional<std::string> remote;       // host and path, without credentials
  std::optional<std::string> head_commit;  // the commit from which root_commit was searched
  std::string uuid;
};

// Adds the project of a place that is new: its name is the basename, with its parent ("work/api") when that
// is taken, then numbered.
Result<Project> add_project(Db& db, const Place& place, WallTime now);

Result<std::optional<Project>> find_project(Db& db, std::int64_t id);
Result<std::optional<Project>> project_by_key(Db& db, const std::string& key);
// Finds a project by its name, else by an earlier name.
Result<std::optional<Project>> project_by_name(Db& db, const std::string& name);
// Finds a project by the directory of its main worktree; if several have it, the one with the latest session.
Result<std::optional<Project>> project_by_root(Db& db, const std::string& root);
// Finds the project to which a person gave the place with this key, by a merge or an alias.
Result<std::optional<Project>> project_by_alias(Db& db, const std::string& key);
// Finds a project by a key or main worktree that it had before it was moved.
Result<std::optional<Project>> project_by_old_place(Db& db, const Place& place);
// The project of the sessions that ran in this linked worktree or below it.
Result<std::optional<Project>> project_by_worktree(Db& db, const std::string& directory);
Result<std::vector<Project>> projects_with_root_commit(Db& db, const std::string& commit);
Result<std::vector<Project>> projects_with_remote(Db& db, const std::string& remote);

// Stores what was read from its repository.
Status set_lineage(Db& db, std::int64_t project, const std::optional<std::string>& root_commit,
                   const std::optional<std::string>& remote, const std::optional<std::string>& head_commit);
// Whether its repository must be read again: set by the first function, cleared by the second.
Status set_due(Db& db, const std::string& project);
Status set_looked_at(Db& db, std::int64_t project);
// The next project whose repository must be read.
Result<std::optional<Project>> next_due(Db& db);

// Moves the project to another location: key and root change, the rows stay. `what`: "moved", or "repository"
// when its directory became one. A name that was made from the old directory changes too (project_move.h).
// `busy` when another project has the new key.
Status move_project(Db& db, const Project& project, const Place& to, ProjectStep what, WallTime now);

// A project and how much is remembered of it.
struct ProjectTotals {
  Project project;
  WallTime since;
  std::int64_t sessions = 0, prompts = 0, summaries = 0, observations = 0;
  std::optional<WallTime> last_event_at;
};
// The project of that name, or all of them, the last active first.
Result<std::vector<ProjectTotals>> project_totals(Db& db, const std::optional<std::string>& name,
                                                  std::int64_t limit);
// The branches and the linked worktrees in which it had sessions, sorted; at most 50 of each.
Result<std::vector<std::string>> branches_of(Db& db, const std::string& project);
Result<std::vector<std::string>> worktrees_of(Db& db, const std::string& project);

// The names of the projects whose rows a read of `project` shows: itself first, then those linked with it. In
// SQL: `project IN (SELECT member FROM project_scope WHERE project = ?)`.
Result<std::vector<std::string>> scope_of(Db& db, const std::string& project);
// The names of the linked projects alone: scope_of also has a name that was given up and whose rows still
// move.
Result<std::vector<std::string>> linked_with(Db& db, const std::string& project);

// The first `limit` rows of a scope in the order of `before`: `of_one` reads them for one name, in that order
// and at most `limit`. An index on (project, time) serves each name, which it could not for all at once.
template <class Row, class OfOne, class Before>
Result<std::vector<Row>> first_of_scope(Db& db, const std::string& project, std::size_t limit, OfOne of_one,
                                        Before before) {
  std::vector<Row> rows;
  const auto names = TRY(scope_of(db, project));
  for (const std::string& name : names) {
    std::vector<Row> some = TRY(of_one(name));
    std::move(some.begin(), some.end(), std::back_inserter(rows));
  }
  if (names.size() > 1) std::stable_sort(rows.begin(), rows.end(), before);
  if (rows.size() > limit) rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(limit), rows.end());
  return rows;
}

}  // namespace cairn::store
