#include <algorithm>

#include "intake/local_rules.h"
#include "intake/place.h"
#include "ops/operation.h"
#include "store/projects.h"

namespace cairn::ops {

static constexpr std::string_view kProjectsOff = "capture.projects_off";

// The key of a project given by its name, a path, or `.`.
static Result<std::string> project_key(World& world, const std::string& name, const std::string& cwd) {
  if (name == ".") return intake::resolve_place(world.disk, "", cwd).key;
  if (name.find('/') != std::string::npos)
    return intake::resolve_place(world.disk, "", name.starts_with('/') ? name : cwd + "/" + name).key;
  if (auto project = TRY(store::project_by_name(world.db, name))) return std::move(project->key);
  return Error{Code::not_found,
               "no project of that name is remembered: name it by its path, or `.` for this directory"};
}

// Whether a session in `directory` would be recorded, and if not, by which setting or file.
static Json state_of(os::Disk& disk, const Settings& settings, const std::string& directory) {
  const gate::LocalRules local = intake::find_local_rules(disk, settings.list(kProjectsOff))("", directory);
  const bool on = settings.flag("capture.enabled");
  return Json::object({{"enabled", on},
                       {"projects_off", settings.json(kProjectsOff)},
                       {"directory", directory},
                       {"captured", on && local.off.empty()},
                       {"reason", !on                 ? Json("capture.enabled is false")
                                  : local.off.empty() ? Json()
                                                      : Json(local.off)}});
}

static Result<Json> switch_capture(World& world, const Args& args, bool on) {
  const std::string cwd = args.text("cwd");
  if (const auto name = args.optional_text("project")) {
    const std::string key = TRY(project_key(world, *name, cwd));
    std::vector<std::string> off = world.settings.list(kProjectsOff);
    std::erase(off, key);
    if (!on) off.push_back(key);
    Json list = Json::array();
    for (const std::string& item : off) list.push(item);
    TRY(set_setting(world.disk, world.home, kProjectsOff, list.dump()));
  } else {
    TRY(set_setting(world.disk, world.home, "capture.enabled", Json(on).dump()));
  }
  world.settings_changed = true;
  // world.settings is from before the change.
  return state_of(world.disk, Settings::load(world.disk, world.home), cwd);
}

static Result<Json> capture_on(World& world, const Args& args) {
  return switch_capture(world, args, true);
}

static Result<Json> capture_off(World& world, const Args& args) {
  return switch_capture(world, args, false);
}

static Result<Json> capture_status(World& world, const Args& args) {
  return state_of(world.disk, world.settings, args.text("cwd"));
}

std::vector<Operation> capture_operations() {
  constexpr std::string_view kWhich =
      "With --project only for that project, by its name, by a path, or `.` for this directory; without it "
      "for "
      "all. A repository can keep itself out with a file .cairn.toml: `capture = false`, `exclude = "
      "[\"secrets/**\"]`, `skip_tools = [\"Bash\"]`.";
  const Argument cwd = path("cwd", "the directory to report on").as("DIR").needed();
  const Argument project = text("project", "only this project: its name, a path, or `.`").as("NAME");
  return {
      {.name = "capture.on",
       .access = Access::write,
       .group = Group::privacy,
       .summary = "record again",
       .help = kWhich,
       .arguments = {cwd, project},
       .body = capture_on},
      {.name = "capture.off",
       .access = Access::write,
       .group = Group::privacy,
       .summary = "stop recording, everywhere or in one project",
       .help = kWhich,
       .arguments = {cwd, project},
       .body = capture_off},
      {.name = "capture.status",
       .group = Group::privacy,
       .summary = "whether this directory is recorded, and why not",
       .arguments = {cwd},
       .body = capture_status},
  };
}

}  // namespace cairn::ops
