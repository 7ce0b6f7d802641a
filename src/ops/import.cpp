#include "import/transcripts.h"
#include "ops/operation.h"
#include "store/imports.h"

namespace cairn::ops {

static Json moment_or_null(const std::optional<WallTime>& time) {
  return time ? Json(iso8601(*time)) : Json();
}

static Result<Json> import_transcripts(World& world, const Args& args) {
  const std::string folder = args.optional_text("directory").value_or("");
  if (!folder.empty()) {
    const auto stat = world.disk.stat(folder);
    if (!stat || !stat->is_dir) return Error{Code::not_found, folder + " is not a directory"};
  }
  const importer::Found found =
      TRY(importer::find_transcripts(world.db, world.disk, world.clock, folder, args.flag("dry_run")));
  Json folders = Json::array(), left_out = Json::object();
  for (const std::string& path : found.folders) folders.push(path);
  for (const auto& [reason, count] : found.left_out) left_out.set(reason, count);
  return Json::object({{"dry_run", args.flag("dry_run")},
                       {"folders", folders},
                       {"found", found.sessions},
                       {"bytes", found.bytes},
                       {"oldest_at", moment_or_null(found.oldest)},
                       {"newest_at", moment_or_null(found.newest)},
                       {"known", found.known},
                       {"left_out", left_out}});
}

Result<Json> import_progress(World& world) {
  std::int64_t pending = 0, done = 0, left = 0;
  Json reasons = Json::object();
  for (const store::ImportCount& count : TRY(store::count_imports(world.db))) {
    switch (count.state) {
      case store::ImportState::pending:
      case store::ImportState::reading:
        pending += count.sessions;
        left += count.bytes;
        break;
      case store::ImportState::done: done += count.sessions; break;
      case store::ImportState::left_out: reasons.set(count.reason, count.sessions); break;
    }
  }
  return Json::object(
      {{"pending", pending}, {"bytes_left", left}, {"imported", done}, {"left_out", reasons}});
}

static Result<Json> import_status(World& world, const Args&) {
  return import_progress(world);
}

std::vector<Operation> import_operations() {
  return {
      {.name = "import.transcripts",
       .access = Access::write,
       .group = Group::setup,
       .summary = "remember the sessions that are on this machine already",
       .help =
           "Finds transcripts of sessions that cairn did not see, in DIR or where the coding agents keep "
           "them, and reads them in the background, newest first, without a model. It can be repeated: what "
           "is remembered is left alone. `cairn import status` shows how far it is.",
       .arguments = {path("directory", "where to look").as("DIR").word(),
                     flag("dry_run", "only say what would be imported")},
       .body = import_transcripts},
      {.name = "import.status",
       .group = Group::setup,
       .summary = "how far the import is, and what was left out",
       .body = import_status},
  };
}

}  // namespace cairn::ops
