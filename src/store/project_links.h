// Which projects belong together. A link makes reads of either show both (`scope_of`); both keep their own
// rows, so that taking it back leaves everything as it was. Links join groups: whoever is linked with one is
// linked with all of its group.
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

// Links two projects; false: they were linked already. What cairn finds never goes against the user: a pair
// that the user took apart stays so.
Result<bool> link_projects(Db& db, const Project& one, const Project& other, MadeBy by,
                           std::string_view reason, WallTime now);
// Notes that two projects look like one; false: that was known, or they are linked, or the user said no.
Result<bool> suggest_link(Db& db, const Project& one, const Project& other, std::string_view reason,
                          WallTime now);
// Takes back the link between two projects, or the suggestion of one; it is not made again by itself. False:
// there was neither. They stay in one group while another project links them.
Result<bool> unlink_projects(Db& db, const Project& one, const Project& other, WallTime now);

// The direct links and suggestions of a project, the newest first; what was taken apart is not told.
Result<std::vector<Link>> links_of(Db& db, const Project& project);

// What a session of the project should be told of its identity, in one line each, beyond history entry
// `told`: that it was moved, linked, or looks like another.
struct IdentityNews {
  std::int64_t last = 0;  // the newest history entry
  std::vector<std::string> lines;
};
Result<IdentityNews> identity_news(Db& db, const Project& project, std::int64_t told);

// One entry of a project's history.
struct ProjectChange {
  std::string what;
  MadeBy made_by = MadeBy::cairn;
  std::optional<std::string> old_root, old_name, other;
  WallTime at;
};
// The newest first.
Result<std::vector<ProjectChange>> history_of(Db& db, const Project& project, std::size_t limit);

}  // namespace cairn::store
