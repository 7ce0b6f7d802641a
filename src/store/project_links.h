// Which projects belong together. With a link, reading either project shows both (`scope_of`). Each keeps its
// own rows, so that removing the link restores the earlier state. Links form groups: a project that is linked
// with one is linked with its whole group.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/projects.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

struct Link {
  Project other;
  LinkState state = LinkState::linked;
  MadeBy made_by = MadeBy::user;
  std::string reason;  // in words: "same first commit"
  WallTime at;
};

// All within the caller's transaction.

// Links two projects; false: nothing changed. cairn itself never links a pair that the user unlinked.
Result<bool> link_projects(Db& db, const Project& one, const Project& other, MadeBy by,
                           std::string_view reason, WallTime now);
// Suggests that two projects are the same; false: that was suggested already, they are linked, or the user
// declined.
Result<bool> suggest_link(Db& db, const Project& one, const Project& other, std::string_view reason,
                          WallTime now);
// Removes the link between two projects, or the suggestion; cairn does not make it again. False: there was
// neither. They stay in one group while another project links them.
Result<bool> unlink_projects(Db& db, const Project& one, const Project& other, WallTime now);
// Removes all links and suggestions of a project, without a trace. For project_move.cpp.
Status remove_links(Db& db, const Project& project);

// The direct links and suggestions of a project, newest first, without pairs that were unlinked.
Result<std::vector<Link>> links_of(Db& db, const Project& project);

// News for the next session of the project, one line each: that it was moved, linked, or looks like another.
// Only history entries after number `shown`, the last one that a session got.
struct IdentityNews {
  std::int64_t last = 0;  // the newest history entry
  std::vector<std::string> lines;
};
Result<IdentityNews> identity_news(Db& db, const Project& project, std::int64_t shown);

// One entry of a project's history.
struct ProjectChange {
  ProjectStep what = ProjectStep::moved;
  MadeBy made_by = MadeBy::cairn;
  std::optional<std::string> old_root, old_name, other;
  WallTime at;
};
// The newest first.
Result<std::vector<ProjectChange>> history_of(Db& db, const Project& project, std::size_t limit);

}  // namespace cairn::store
