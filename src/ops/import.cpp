#include "host/host.h"
#include "import/claude_mem.h"
#include "import/claude_memory.h"
#include "import/history.h"
#include "import/stage.h"
#include "import/transcripts.h"
#include "ops/export.h"
#include "ops/operation.h"
#include "store/aliases.h"
#include "store/imports.h"

namespace cairn::ops {

static Json moment_or_null(const std::optional<WallTime>& time) {
  return time ? Json(iso8601(*time)) : Json();
}

// What is found beside the transcripts of a folder: prompts of sessions whose transcripts are gone, and the
// host's own notes. The notes are stored at once. The history of prompts is copied, and a job for it is
// added; the daemon reads the copy later, so it does not matter if the host changes the file meanwhile. A
// job with nothing new is removed with its copy. A dry run does the same without a commit.
static Status import_beside(World& world, const importer::FoundTranscripts& found, const std::string& root,
                            bool dry_run, importer::Tally& prompts, importer::NotesFound& notes) {
  auto transaction = TRY(store::Transaction::begin(world.db));
  const importer::NotesFound some =
      TRY(importer::import_host_notes(world.db, world.disk, world.clock, world.intake->gate(), root));
  notes.added += some.added;
  notes.changed += some.changed;
  notes.known += some.known;
  TRY(os::make_dirs(world.disk, world.home.data + "/imports"));
  for (const host::Host* host : host::hosts()) {
    const std::string source = std::string(importer::kHistory) + std::string(host->name());
    if (TRY(store::pending_job(world.db, source, root))) continue;  // an earlier call has it under way
    const store::ImportJob job = TRY(store::add_job(world.db, source, root, world.clock.now()));
    const std::string copy = importer::copy_of(world.home.data, job.id);
    bool is_new = false;
    if (TRY(importer::copy_history(world.disk, host->prompt_history(world.disk, root), found.transcripts,
                                   copy))) {
      const auto history = TRY(importer::open_history(world.disk, std::string(host->name()), copy));
      const importer::Tally tally = TRY(importer::survey(world.db, source, *history));
      for (const auto& [kind, count] : tally.imported) prompts.imported[kind] += count;
      for (const auto& [kind, count] : tally.known) prompts.known[kind] += count;
      is_new = !tally.imported.empty();
    }
    if (is_new && !dry_run) continue;  // the job and its copy stay for the daemon
    importer::remove_database(world.disk, copy);
    TRY(store::remove_job(world.db, job.id));
  }
  return dry_run ? Status() : transaction.commit();
}

static Result<Json> import_transcripts(World& world, const Args& args) {
  const std::string folder = args.optional_text("directory").value_or("");
  if (!folder.empty()) {
    const auto stat = world.disk.stat(folder);
    if (!stat || !stat->is_dir) return Error{Code::not_found, folder + " is not a directory"};
  }
  const std::string host = args.text("host");
  if (!host.empty() && folder.empty() &&
      host::find_host(host).traits().transcript == host::Traits::Transcript::none)
    return Error{Code::unsupported, std::string(host::find_host(host).title()) +
                                        " keeps no transcripts in files: nothing to import"};
  const importer::FoundTranscripts found =
      TRY(importer::find_transcripts(world.db, world.disk, world.clock,
                                     {folder, args.optional_text("configuration").value_or(""), host,
                                      [&](std::string_view platform, std::string_view session) {
                                        return world.intake->gate().forgot_session(platform, session);
                                      }},
                                     args.flag("dry_run")));
  importer::Tally prompts;
  importer::NotesFound notes;
  for (const std::string& root : found.folders)
    TRY(import_beside(world, found, root, args.flag("dry_run"), prompts, notes));
  const Json only = prompts.json();
  Json folders = Json::array(), left_out = Json::object();
  for (const std::string& path : found.folders) folders.push(path);
  for (const auto& [reason, count] : found.left_out) left_out.set(reason, count);
  return Json::object(
      {{"dry_run", args.flag("dry_run")},
       {"folders", folders},
       {"found", found.sessions},
       {"bytes", found.bytes},
       {"oldest_at", moment_or_null(found.oldest)},
       {"newest_at", moment_or_null(found.newest)},
       {"pending", found.pending},
       {"known", found.known},
       {"left_out", left_out},
       {"prompts_only", Json::object({{"found", only["imported"]}, {"known", only["known"]}})},
       {"host_notes",
        Json::object({{"added", notes.added}, {"changed", notes.changed}, {"known", notes.known}})}});
}

// Copies and opens the source, and returns what an import would add. The copy stays for the job, except
// after an error.
static Result<Json> look_into(World& world, const std::string& path, const std::string& copy) {
  TRY(os::make_dirs(world.disk, world.home.data + "/imports"));
  auto looked = [&]() -> Result<Json> {
    TRY(importer::copy_claude_mem(world.db, world.disk, path, copy));
    const auto memory = TRY(importer::open_claude_mem(world.db, copy));
    const importer::Tally tally = TRY(importer::survey(world.db, std::string(importer::kClaudeMem), *memory));
    const Json counts = tally.json();
    return Json::object({{"source", importer::kClaudeMem},
                         {"path", path},
                         {"found", counts["imported"]},
                         {"known", counts["known"]},
                         {"left_out", counts["left_out"]},
                         {"unread_tables", memory->remarks()}});
  }();
  if (!looked) {
    importer::remove_database(world.disk, copy);
    return std::move(looked).error().in(path);
  }
  return looked;
}

static Json job_json(const store::ImportJob& job) {
  const Json counts = importer::Tally::read(job.report).json();
  return Json::object({{"source", job.source},
                       {"path", job.path},
                       {"state", store::name_of(job.state)},
                       {"reason", job.reason.empty() ? Json() : Json(job.reason)},
                       {"started_at", iso8601(job.started_at)},
                       {"imported", counts["imported"]},
                       {"known", counts["known"]},
                       {"left_out", counts["left_out"]}});
}

static Result<Json> import_claude_mem(World& world, const Args& args) {
  const std::string source(importer::kClaudeMem);
  std::string path = args.optional_text("path").value_or("");
  if (path.empty()) path = importer::find_claude_mem(world.disk);
  if (path.empty())
    return Error{Code::not_found, "there is no ~/.claude-mem/claude-mem.db: name the database or the export"};
  if (const auto stat = world.disk.stat(path); !stat || stat->is_dir)
    return Error{Code::not_found, path + " is not a file"};
  const bool dry_run = args.flag("dry_run");
  if (dry_run) {
    const std::string copy = importer::copy_of(world.home.data, 0);  // no job has this number
    Json result = TRY(look_into(world, path, copy));
    importer::remove_database(world.disk, copy);
    return result.set("dry_run", true).set("pending", false);
  }
  if (const auto job = TRY(store::pending_job(world.db, source, path)))
    return job_json(*job).set("dry_run", false).set("pending", true);
  auto transaction = TRY(store::Transaction::begin(world.db));
  // The job gives the copy its name; it is committed only when there is something to import.
  const store::ImportJob job = TRY(store::add_job(world.db, source, path, world.clock.now()));
  const std::string copy = importer::copy_of(world.home.data, job.id);
  Json result = TRY(look_into(world, path, copy));
  result.set("dry_run", false).set("pending", false);
  if (result["found"].members().empty()) {
    importer::remove_database(world.disk, copy);
    return result;  // without a commit there is no job
  }
  TRY(transaction.commit());
  return result;
}

static Result<Json> import_claude_memory(World& world, const Args& args) {
  const std::string directory = args.text("directory");
  if (const auto stat = world.disk.stat(directory); !stat || !stat->is_dir)
    return Error{Code::not_found, directory + " is not a directory"};
  auto transaction = TRY(store::Transaction::begin(world.db));
  const importer::FilesReport report =
      TRY(importer::import_claude_memory(world.db, world.disk, world.clock, world.intake->gate(), directory));
  if (!args.flag("dry_run")) TRY(transaction.commit());
  return report.json().set("dry_run", args.flag("dry_run"));
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
  Json memories = Json::array();
  for (const store::ImportJob& job : TRY(store::last_jobs(world.db))) memories.push(job_json(job));
  return Json::object({{"pending", pending},
                       {"bytes_left", left},
                       {"imported", done},
                       {"left_out", reasons},
                       {"memories", memories}});
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
       .arguments =
           {path("directory", "where to look").as("DIR").word(),
            ops::host("host", "only of this coding agent"),
            flag("dry_run", "only say what would be imported"),
            path("configuration", "the agent's directory that the caller's environment names").in_requests()},
       .body = import_transcripts},
      {.name = "import.claude-mem",
       .access = Access::write,
       .group = Group::setup,
       .summary = "remember what claude-mem remembered",
       .help = "Reads the database of claude-mem (default ~/.claude-mem/claude-mem.db), or the JSON file "
               "that its "
               "export wrote: sessions, prompts, observations and summaries, with their times and projects. "
               "It is "
               "copied first and never changed; the import goes on in the background. It can be repeated: "
               "what is "
               "remembered is left alone. `cairn show claude-mem:12` finds what was observation 12 there.",
       .arguments = {path("path", "the database or the export").as("PATH").word(),
                     flag("dry_run", "only say what would be imported")},
       .body = import_claude_mem},
      {.name = "import.claude-memory",
       .access = Access::write,
       .group = Group::setup,
       .summary = "remember the files of .claude/memory",
       .help =
           "Reads the tree that the hooks and commands of claude-memory kept in a project: session documents "
           "become documents, sections of project-memory.md notes, next steps open items, copies of "
           "transcripts backups and sessions. The files are only read. It can be repeated: what is known is "
           "left alone, and a file that changed is followed.",
       .arguments = {path("directory", "the project, or its .claude/memory").as("DIR").word().needed(),
                     flag("dry_run", "only say what would be imported")},
       .body = import_claude_memory},
      {.name = "import.cairn",
       .access = Access::write,
       .group = Group::setup,
       .summary = "remember what another home of cairn exported",
       .help =
           "Reads a file that `cairn export` wrote as json. It can be repeated: what is here already stays "
           "as "
           "it is, unless you decided about it there later than here. Projects are matched by their first "
           "commit, then by place or name. What was forgotten here does not come back, and what was "
           "forgotten "
           "there is forgotten here too. A file that is damaged or cut changes nothing.",
       .arguments = {path("file", "the export").as("FILE").word().needed(),
                     flag("dry_run", "only say what would be imported")},
       .body = import_export},
      {.name = "import.status",
       .group = Group::setup,
       .summary = "how far the import is, and what was left out",
       .body = import_status},
  };
}

}  // namespace cairn::ops
