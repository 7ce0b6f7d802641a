#include "store/projects.h"

#include "intake/place.h"
#include "intake/project_identity.h"
#include "ops/operation.h"
#include "store/audit.h"
#include "store/project_links.h"
#include "store/project_move.h"
#include "store/tombstones.h"

namespace cairn::ops {

// Adds projects that are linked with this one, and those that resemble it.
static Status add_links(World& world, const store::Project& project, Json& out) {
  Json linked = Json::array(), suggested = Json::array();
  for (const std::string& name : TRY(store::linked_with(world.db, project.name))) linked.push(name);
  for (const store::Link& link : TRY(store::links_of(world.db, project)))
    if (link.state == store::LinkState::suggested)
      suggested.push(Json::object({{"name", link.other.name}, {"reason", link.reason}}));
  out.set("linked", linked).set("suggested", suggested);
  return {};
}

static Result<Json> project_json(World& world, const store::ProjectTotals& its) {
  Json out = Json::object({{"name", its.project.name},
                           {"root", its.project.root},
                           {"key", its.project.key},
                           {"remembered_since", iso8601(its.since)},
                           {"sessions", its.sessions},
                           {"prompts", its.prompts},
                           {"summaries", its.summaries},
                           {"observations", its.observations},
                           {"last_event_at", time_or_null(its.last_event_at)},
                           {"root_commit", its.project.root_commit},
                           {"remote", its.project.remote}});
  TRY(add_links(world, its.project, out));
  return out;
}

static Result<Json> projects_list(World& world, const Args& args) {
  Json projects = Json::array();
  for (const auto& its : TRY(store::project_totals(world.db, std::nullopt, args.integer("limit"))))
    projects.push(TRY(project_json(world, its)));
  return Json::object({{"projects", projects}});
}

static Json list_of(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push(name);
  return list;
}

static Result<Json> history_json(World& world, const store::Project& project) {
  Json history = Json::array();
  for (const store::ProjectChange& change : TRY(store::history_of(world.db, project, 20)))
    history.push(Json::object({{"what", name_of(change.what)},
                               {"made_by", name_of(change.made_by)},
                               {"old_root", change.old_root},
                               {"old_name", change.old_name},
                               {"other", change.other},
                               {"time", iso8601(change.at)}}));
  return history;
}

static Result<Json> projects_show(World& world, const Args& args) {
  const std::string name = TRY(one_project(world, args));
  const auto found = TRY(store::project_totals(world.db, name, 1));
  if (found.empty()) return Error{Code::not_found, "project \"" + name + "\" is not remembered"};
  Json out = TRY(project_json(world, found.front()));
  out.set("branches", list_of(TRY(store::branches_of(world.db, name))));
  out.set("worktrees", list_of(TRY(store::worktrees_of(world.db, name))));
  out.set("history", TRY(history_json(world, found.front().project)));
  // The same JSON as `sessions list` gives, by running it.
  const Json newest = Json::object({{"project", name}, {"limit", 5}});
  out.set("recent_sessions", TRY(run_operation("sessions.list", world, newest))["sessions"]);
  return out;
}

// A project by its name, an earlier name, or its path.
static Result<store::Project> project_named(World& world, const std::string& name) {
  auto found = TRY(store::project_by_name(world.db, name));
  if (!found && name.starts_with('/'))
    found = TRY(intake::find_project_at(world.db, world.disk, world.clock,
                                        intake::resolve_place(world.disk, "", name)));
  if (found) return *std::move(found);
  return Error{Code::not_found,
               "no project of that name is remembered: `cairn projects list` shows those that are"};
}

static Result<Json> linked_json(World& world, const store::Project& project, bool changed) {
  Json out = Json::object({{"name", project.name}, {"changed", changed}});
  TRY(add_links(world, project, out));
  return out;
}

static Result<Json> projects_link(World& world, const Args& args) {
  const store::Project one = TRY(project_named(world, args.text("name")));
  const store::Project other = TRY(project_named(world, args.text("other")));
  bool changed = false;
  TRY(store::in_transaction(world.db, [&]() -> Status {
    changed = TRY(
        store::link_projects(world.db, one, other, store::MadeBy::user, "by the user", world.clock.now()));
    return {};
  }));
  return linked_json(world, one, changed);
}

static Result<Json> projects_unlink(World& world, const Args& args) {
  const store::Project one = TRY(project_named(world, args.text("name")));
  std::vector<store::Project> others;
  if (const auto name = args.optional_text("other")) {
    others.push_back(TRY(project_named(world, *name)));
  } else {
    for (const store::Link& link : TRY(store::links_of(world.db, one))) others.push_back(link.other);
  }
  bool changed = false;
  TRY(store::in_transaction(world.db, [&]() -> Status {
    for (const store::Project& other : others)
      changed |= TRY(store::unlink_projects(world.db, one, other, world.clock.now()));
    return {};
  }));
  if (!changed)
    return Error{Code::not_found,
                 "project \"" + one.name + "\" has no such link: `cairn projects show` lists those it has"};
  return linked_json(world, one, changed);
}

// A forget finds its rows by the names of projects, in several steps: names must not change until it is
// done.
static Status check_no_forget(World& world) {
  if (!TRY(store::pending_forget(world.db))) return {};
  return Error{Code::busy, "something is being forgotten: try again in a minute"};
}

static Result<Json> projects_rename(World& world, const Args& args) {
  TRY(check_no_forget(world).in("rename"));
  const store::Project project = TRY(project_named(world, args.text("name")));
  // Names and paths are stored and shown, so they pass the gate like other text.
  const std::string name = world.intake->gate().clean(args.text("new_name"), gate::Way::remember);
  TRY(store::in_transaction(
      world.db, [&] { return store::rename_project(world.db, project, name, world.clock.now()); }));
  return Json::object({{"name", name}, {"old_name", project.name}, {"changed", name != project.name}});
}

static Result<Json> projects_merge(World& world, const Args& args) {
  TRY(check_no_forget(world).in("merge"));
  const store::Project from = TRY(project_named(world, args.text("name")));
  const store::Project into = TRY(project_named(world, args.text("other")));
  const auto totals = TRY(store::project_totals(world.db, from.name, 1));
  const std::int64_t sessions = totals.empty() ? 0 : totals.front().sessions;
  TRY(store::in_transaction(world.db, [&]() -> Status {
    TRY(store::merge_projects(world.db, from, into, world.clock.now()).in("merge"));
    return store::add_audit(world.db, world.key, "merge", "person", from.name + " " + into.name,
                            Json::object({{"sessions", sessions}}).dump(), world.clock.now());
  }));
  return Json::object({{"name", into.name}, {"merged", from.name}, {"sessions", sessions}});
}

// A path as the resolver sees it.
static std::string key_of(World& world, const std::string& path) {
  return intake::resolve_place(world.disk, "", path).key;
}

static Result<Json> projects_alias(World& world, const Args& args) {
  const store::Project project = TRY(project_named(world, TRY(one_project(world, args))));
  const std::string path = world.intake->gate().clean(args.text("path"), gate::Way::remember);
  TRY(store::in_transaction(world.db, [&] {
    return store::add_alias(world.db, project, key_of(world, path), path, world.clock.now()).in("alias");
  }));
  return Json::object({{"name", project.name}, {"path", path}});
}

static Result<Json> projects_split(World& world, const Args& args) {
  TRY(check_no_forget(world).in("split"));
  const store::Project from = TRY(project_named(world, args.text("name")));
  const std::string path = world.intake->gate().clean(args.text("path"), gate::Way::remember);
  std::int64_t moved = 0;
  std::string name;
  TRY(store::in_transaction(world.db, [&]() -> Status {
    store::Place place;
    place.key = place.root = path;
    place.name = path.substr(path.rfind('/') + 1);
    // Splitting again, or into a project that exists, moves the sessions there.
    const auto known = TRY(store::project_by_key(world.db, path));
    const store::Project to = known ? *known : TRY(store::add_project(world.db, place, world.clock.now()));
    name = to.name;
    moved = TRY(store::move_sessions(world.db, from, to, path));
    // The error rolls back, so that no empty project stays.
    if (moved == 0)
      return Error{Code::not_found, "split: no session of \"" + from.name + "\" worked in " + path};
    return store::add_audit(world.db, world.key, "split", "person", from.name + " " + to.name,
                            Json::object({{"sessions", moved}}).dump(), world.clock.now());
  }));
  return Json::object({{"name", name}, {"from", from.name}, {"sessions", moved}});
}

std::vector<Operation> project_operations() {
  return {
      {.name = "projects.list",
       .group = Group::memory,
       .summary = "every project, the last one used first",
       .arguments = {integer("limit", 1, kMostRows, "at most N rows").otherwise(100)},
       .body = projects_list},
      {.name = "projects.show",
       .group = Group::memory,
       .summary = "one project: where it is and what is remembered of it",
       .help = "Without a name the current directory's.",
       .scope = Scope::one,
       .arguments = {text("project", "the project of that name").as("NAME").word()},
       .body = projects_show},
      {.name = "projects.link",
       .access = Access::write,
       .group = Group::memory,
       .summary = "read two projects as one",
       .help = "Context, search, timeline, sessions and stats of either show both. Each keeps its own rows, "
               "and `cairn projects unlink` undoes it.",
       .arguments = {text("name", "one project: its name or its path").as("NAME").word().needed(),
                     text("other", "the other one").as("OTHER").word().needed()},
       .body = projects_link},
      {.name = "projects.unlink",
       .access = Access::write,
       .group = Group::memory,
       .summary = "remove a link, or reject a suggested one",
       .help = "Without OTHER all links of the project. What was unlinked is not suggested again.",
       .arguments = {text("name", "one project: its name or its path").as("NAME").word().needed(),
                     text("other", "the other one").as("OTHER").word()},
       .body = projects_unlink},
      {.name = "projects.merge",
       .access = Access::write,
       .group = Group::memory,
       .summary = "move everything of one project to another",
       .help = "Rows move, so this cannot be taken back; a link only shows both. The old name and path lead "
               "to the "
               "other project from then on.",
       .arguments = {text("name", "the project that goes: its name or its path").as("NAME").word().needed(),
                     text("other", "the project that stays").as("INTO").word().needed()},
       .body = projects_merge},
      {.name = "projects.split",
       .access = Access::write,
       .group = Group::memory,
       .summary = "move the sessions of a directory to a project of their own",
       .help = "Those of the project that worked in PATH or below it, with all that was learned from them.",
       .arguments = {text("name", "the project: its name or its path").as("NAME").word().needed(),
                     path("path", "the directory").as("PATH").word().needed()},
       .body = projects_split},
      {.name = "projects.alias",
       .access = Access::write,
       .group = Group::memory,
       .summary = "sessions at PATH belong to this project, too",
       .scope = Scope::one,
       .arguments = {path("path", "the directory").as("PATH").word().needed()},
       .body = projects_alias},
      {.name = "projects.rename",
       .access = Access::write,
       .group = Group::memory,
       .summary = "give a project another name",
       .help = "Everything remembered of it follows, and the old name still finds it.",
       .arguments = {text("name", "the project: its name or its path").as("OLD").word().needed(),
                     text("new_name", "the new name").as("NEW").word().needed()},
       .body = projects_rename},
  };
}

}  // namespace cairn::ops
