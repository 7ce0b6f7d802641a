#include "store/project_links.h"

#include <fmt/format.h>

#include <set>

#include "base/quoted.h"
#include "store/rows.h"

namespace cairn::store {

// A pair is stored once, with the smaller number first.
static Result<std::optional<LinkState>> link_state(Db& db, const Project& one, const Project& other) {
  const auto state = TRY(db.text("SELECT state FROM project_links WHERE a = ? AND b = ?",
                                 std::min(one.id, other.id), std::max(one.id, other.id)));
  return state ? named<LinkState>(*state) : std::nullopt;
}

static Status put_link(Db& db, const Project& one, const Project& other, LinkState state, MadeBy by,
                       std::string_view reason, WallTime now) {
  return db.run(
      "INSERT INTO project_links(a, b, state, made_by, reason, created_at_epoch) VALUES(?,?,?,?,?,?) ON "
      "CONFLICT DO UPDATE SET state = excluded.state, made_by = excluded.made_by, reason = excluded.reason, "
      "created_at_epoch = excluded.created_at_epoch",
      std::min(one.id, other.id), std::max(one.id, other.id), name_of(state), name_of(by), reason,
      epoch_ms(now));
}

static Status note_change(Db& db, const Project& one, const Project& other, ProjectStep what, MadeBy by,
                          WallTime now) {
  return db.run(
      "INSERT INTO project_history(project_id, what, made_by, other_id, at_epoch) VALUES(?, ?, ?, ?, ?)",
      one.id, name_of(what), name_of(by), other.id, epoch_ms(now));
}

// All projects that are linked with `project`, directly or through others, and itself.
static Result<std::set<std::int64_t>> group_of(Db& db, std::int64_t project) {
  std::set<std::int64_t> group;
  Stmt row = TRY(db.query(
      "WITH RECURSIVE member(id) AS (SELECT ?1 UNION SELECT iif(l.a = m.id, l.b, l.a) FROM member m JOIN "
      "project_links l ON (l.a = m.id OR l.b = m.id) AND l.state = 'linked') SELECT id FROM member",
      project));
  while (TRY(row.step())) group.insert(row.integer(0));
  return group;
}

// Writes the number of its group (the smallest id in it) to all members, after a link changed: reads then
// find the members by an index, without following links.
static Status update_scope(Db& db, std::int64_t project) {
  const auto group = TRY(group_of(db, project));
  const auto scope = group.size() > 1 ? std::optional(*group.begin()) : std::nullopt;
  for (const std::int64_t id : group) TRY(db.run("UPDATE projects SET scope = ? WHERE id = ?", scope, id));
  return {};
}

Result<bool> link_projects(Db& db, const Project& one, const Project& other, MadeBy by,
                           std::string_view reason, WallTime now) {
  if (one.id == other.id) return Error{Code::invalid, "a project cannot be linked with itself"};
  const auto state = TRY(link_state(db, one, other));
  if (state == LinkState::linked || (state == LinkState::apart && by == MadeBy::cairn)) return false;
  TRY(put_link(db, one, other, LinkState::linked, by, reason, now));
  TRY(note_change(db, one, other, ProjectStep::linked, by, now));
  TRY(update_scope(db, one.id));
  return true;
}

Result<bool> suggest_link(Db& db, const Project& one, const Project& other, std::string_view reason,
                          WallTime now) {
  if (one.id == other.id || TRY(link_state(db, one, other))) return false;
  if (TRY(group_of(db, one.id)).contains(other.id)) return false;
  TRY(put_link(db, one, other, LinkState::suggested, MadeBy::cairn, reason, now));
  TRY(note_change(db, one, other, ProjectStep::suggested, MadeBy::cairn, now));
  return true;
}

Result<bool> unlink_projects(Db& db, const Project& one, const Project& other, WallTime now) {
  const auto state = TRY(link_state(db, one, other));
  if (state != LinkState::linked && state != LinkState::suggested) return false;
  TRY(put_link(db, one, other, LinkState::apart, MadeBy::user, "taken apart by the user", now));
  TRY(note_change(db, one, other, ProjectStep::unlinked, MadeBy::user, now));
  // Without the link there may be two groups.
  TRY(update_scope(db, one.id));
  TRY(update_scope(db, other.id));
  return true;
}

Status remove_links(Db& db, const Project& project) {
  const auto group = TRY(group_of(db, project.id));
  TRY(db.run("DELETE FROM project_links WHERE a = ?1 OR b = ?1", project.id));
  // Without the project there may be several groups.
  for (const std::int64_t id : group) TRY(update_scope(db, id));
  return {};
}

Result<std::vector<Link>> links_of(Db& db, const Project& project) {
  std::vector<Link> links;
  Stmt row = TRY(
      db.query("SELECT iif(a = ?1, b, a), state, made_by, reason, created_at_epoch FROM project_links WHERE "
               "(a = ?1 OR b = ?1) AND state <> 'apart' ORDER BY state, created_at_epoch DESC, a, b",
               project.id));
  while (TRY(row.step())) {
    const auto other = TRY(find_project(db, row.integer(0)));
    if (!other) continue;
    Link link{*other};
    std::int64_t id = 0;
    read_columns(row, id, link.state, link.made_by, link.reason, link.at);
    links.push_back(std::move(link));
  }
  return links;
}

// A path or a name in quotes, for a line that the user reads.
static std::string in_quotes(const std::string& text) {
  return quoted(text, '"');
}

static Result<std::string> news_line(Db& db, const Project& project, const Stmt& row) {
  const auto what = named<ProjectStep>(row.text(1));
  const std::string root = row.text(2);
  if (what == ProjectStep::repository)
    return std::string("this directory became a repository: what was remembered of it stays with it");
  if (what == ProjectStep::moved)
    return fmt::format("the memory of {} moved here with its repository", in_quotes(root));
  const auto other = TRY(find_project(db, row.integer(3)));
  const auto state = other ? TRY(link_state(db, project, *other)) : std::nullopt;
  if (!state || name_of(*state) != row.text(1)) return std::string();  // the link was removed since
  if (what == ProjectStep::linked)
    return fmt::format("linked with project {}: `cairn projects unlink` takes it back",
                       in_quotes(other->name));
  return fmt::format("looks like project {}: `cairn projects link` reads both as one",
                     in_quotes(other->name));
}

// Only what cairn did by itself: a person knows their own changes. `last` is also moved past entries that
// give no line.
Result<IdentityNews> identity_news(Db& db, const Project& project, std::int64_t shown) {
  constexpr std::size_t kMostLines = 3;
  IdentityNews news{shown, {}};
  Stmt row =
      TRY(db.query("SELECT id, what, coalesce(old_root, ''), coalesce(other_id, 0) FROM project_history "
                   "WHERE project_id = ? AND id > ? AND made_by = 'cairn' AND what IN ('repository', "
                   "'moved', 'linked', 'suggested') ORDER BY id",
                   project.id, shown));
  while (TRY(row.step())) {
    news.last = row.integer(0);
    std::string line = TRY(news_line(db, project, row));
    if (!line.empty() && news.lines.size() < kMostLines) news.lines.push_back(std::move(line));
  }
  return news;
}

Result<std::vector<ProjectChange>> history_of(Db& db, const Project& project, std::size_t limit) {
  return all(db.query("SELECT h.what, h.made_by, h.old_root, h.old_name, (SELECT name FROM projects WHERE id "
                      "= iif(h.project_id = ?1, h.other_id, h.project_id)), h.at_epoch FROM project_history "
                      "h WHERE h.project_id = ?1 OR h.other_id = ?1 ORDER BY h.id DESC LIMIT ?2",
                      project.id, limit),
             [](Stmt& row) {
               ProjectChange c;
               read_columns(row, c.what, c.made_by, c.old_root, c.old_name, c.other, c.at);
               return c;
             });
}

}  // namespace cairn::store
