#include "ops/backup.h"

#include <fmt/format.h>

#include <algorithm>

#include "archive/delta.h"
#include "archive/repair.h"
#include "archive/restore.h"
#include "archive/verify.h"
#include "base/text.h"

namespace cairn::ops {

namespace {

std::string label(const store::Backup& backup) {
  return "B" + std::to_string(backup.id);
}

Json optional_number(const std::optional<std::int64_t>& number) {
  return number ? Json(*number) : Json();
}

Json backup_json(const store::Backup& b) {
  Json damaged;
  if (b.bad_line) damaged = Json::object({{"line", *b.bad_line}, {"column", optional_number(b.bad_column)}});
  return Json::object({{"id", label(b)},
                       {"session", b.key.session},
                       {"agent", b.key.agent.empty() ? Json() : Json(b.key.agent)},
                       {"version", b.version},
                       {"project", b.project.empty() ? Json() : Json(b.project)},
                       {"cause", store::name_of(b.cause)},
                       {"reason", b.reason},
                       {"lines", b.lines},
                       {"bytes", b.bytes},
                       {"sha256", b.sha256},
                       {"source_bytes", b.source_bytes},
                       {"source_sha256", b.source_sha256},
                       {"source_path", b.source_path},
                       {"rewritten", b.rewritten},
                       {"malformed", b.malformed},
                       {"damaged", damaged},
                       {"last_record_at", b.last_record_at ? Json(iso8601(*b.last_record_at)) : Json()},
                       {"created_at", iso8601(b.created_at)},
                       {"verified_at", iso8601(b.verified_at)}});
}

// A session by its number, or by its id or the beginning of that. The archive may have sessions that the
// store does not have, so both are asked: first for a number in the store, then for an id in the archive,
// then for an id in the store.
Result<store::TranscriptKey> archived_session(World& world, const std::string& name) {
  const auto known = TRY(store::sessions_named(world.db, name));
  if (known.size() == 1 && std::to_string(known[0].id.value) == name)
    return store::TranscriptKey{known[0].platform, known[0].content_id.value, ""};
  const auto found = TRY(store::sessions_like(world.db, name));
  // A whole id is clear, even when it is also the beginning of another.
  if (found.size() > 1 && found[0].session != name)
    return Error{Code::invalid, "several sessions begin like this: give more of the id"};
  if (!found.empty()) return found[0];
  if (known.size() == 1) return store::TranscriptKey{known[0].platform, known[0].content_id.value, ""};
  return Error{Code::not_found, "there is no such backup or session: `cairn backup list --all`"};
}

// The backup that the argument names by its number, or the newest of a session, or a version of either.
Result<store::Backup> backup_of(World& world, const Args& args, std::string_view argument,
                                std::optional<std::int64_t> version = {}) {
  std::optional<store::Backup> backup;
  store::TranscriptKey key;
  // A session's id may be all digits: a backup of that number comes first.
  const auto number = args.numbered(argument);
  if (number && (number->letter == 'B' || number->letter == ' '))
    backup = TRY(store::find_backup(world.db, number->number));
  if (backup) {
    key = backup->key;
  } else {
    key = TRY(archived_session(world, args.name(argument)));
    backup = TRY(store::newest_backup(world.db, key));
  }
  if (version) backup = TRY(store::find_version(world.db, key, *version));
  // A session without any backup has no version 1 either.
  if (!backup)
    return Error{Code::not_found,
                 fmt::format("session {} has no version {}: `cairn backup list --session {}`", key.session,
                             version.value_or(1), key.session)};
  return *backup;
}

Result<Json> list(World& world, const Args& args) {
  store::BackupQuery query;
  if (args.has("session")) {
    query.session = TRY(archived_session(world, args.name("session")));
  } else {
    query.project = TRY(project_of(world, args));
  }
  query.agents = args.flag("agents");
  query.limit = args.integer("limit");
  Json backups = Json::array();
  for (const store::Backup& backup : TRY(store::list_backups(world.db, query))) {
    Json one = backup_json(backup);
    // A session is pending, not a version: shown at the newest version of its own transcript.
    const auto newest = TRY(store::newest_backup(world.db, backup.key));
    one.set("pending", backup.key.agent.empty() && newest && newest->id == backup.id &&
                           TRY(store::is_pending(world.db, backup)));
    backups.push(std::move(one));
  }
  return Json::object({{"backups", backups}});
}

Json verified_json(const archive::Verified& found) {
  Json problems = Json::array();
  for (const archive::BackupProblem& problem : found.problems)
    problems.push(Json::object({{"line", problem.line == 0 ? Json() : Json(problem.line)},
                                {"column", problem.column == 0 ? Json() : Json(problem.column)},
                                {"what", problem.what}}));
  return Json::object({{"ok", found.ok()},
                       {"damaged", found.damaged},
                       {"lines", found.lines},
                       {"bytes", found.bytes},
                       {"sha256", found.sha256},
                       {"malformed", found.malformed},
                       {"problems", problems}});
}

Result<Json> verify(World& world, const Args& args) {
  std::vector<store::Backup> backups;
  Json checked = Json::array();
  bool ok = true;
  const std::string target = args.name("target");
  if (target.starts_with('/')) {
    const archive::Verified found = TRY(archive::verify_file(world.disk, target));
    ok = found.ok();
    checked.push(verified_json(found).set("path", target));
  } else if (args.flag("all")) {
    for (const std::int64_t id : TRY(store::backup_ids(world.db)))
      if (auto backup = TRY(store::find_backup(world.db, id))) backups.push_back(*std::move(backup));
  } else {
    backups.push_back(TRY(backup_of(world, args, "target")));
  }
  for (const store::Backup& backup : backups) {
    if (world.stopping && *world.stopping)
      return Error{Code::canceled, "verify: the daemon is ending: run it again"};
    const archive::Verified found =
        TRY(archive::verify_backup(world.db, world.disk, archive_of(world.home), backup));
    ok = ok && found.ok();
    // This thread only reads, so the writer notes the time. It is not needed for the answer.
    if (!found.damaged && world.write_later)
      world.write_later([id = backup.id, now = world.clock.now()](store::Db& db) {
        return store::set_verified(db, id, now);
      });
    Json one = verified_json(found);
    one.set("id", label(backup)).set("session", backup.key.session).set("version", backup.version);
    checked.push(std::move(one));
  }
  return Json::object({{"ok", ok}, {"backups", checked}});
}

Json restored_json(const archive::Restored& restored, const store::Backup& backup) {
  return Json::object({{"id", label(backup)},
                       {"session", backup.key.session},
                       {"agent", backup.key.agent.empty() ? Json() : Json(backup.key.agent)},
                       {"version", backup.version},
                       {"path", restored.path},
                       {"lines", restored.lines},
                       {"bytes", restored.bytes},
                       {"lost", restored.lost},
                       {"was_there", restored.was_there}});
}

Result<Json> restore(World& world, const Args& args) {
  const store::Backup backup =
      TRY(backup_of(world, args, "id", args.optional_integer("version")).in("restore"));
  const archive::Places places = archive_of(world.home);
  const bool salvage = args.flag("salvage");
  Json files = Json::array();
  const auto put = [&](const store::Backup& one, const std::string& path) -> Status {
    if (!path.starts_with('/'))
      return Error{Code::invalid, label(one) + " does not say where the host had it: name a file to write"};
    files.push(restored_json(
        TRY(archive::restore(world.db, world.disk, places, one, path, salvage).in("restore")), one));
    return {};
  };
  TRY(put(backup, args.flag("into_host") ? backup.source_path : args.text("to")));
  if (args.flag("into_host") && backup.key.agent.empty())
    // With the subagents as they were when this version was copied.
    for (const store::Backup& agent : TRY(store::agents_before(world.db, backup, backup.id)))
      TRY(put(agent, agent.source_path));
  return Json::object({{"session", backup.key.session}, {"files", files}});
}

Result<Json> clean(World& world, const Args& args) {
  archive::Keep keep = keep_of(world.settings);
  if (const auto days = args.optional_integer("older_than")) {
    keep.days = *days;
    keep.ignore_age = true;  // `--older-than 0` means all, while archive.keep_days = 0 means none
  }
  keep.last = args.integer("keep_last", keep.last);
  const archive::RetentionPlan plan = TRY(archive::plan_retention(world.db, keep, world.clock.now()));
  const bool dry_run = args.flag("dry_run");
  Json removed = Json::array();
  for (const store::SessionBackups& session : plan.removed)
    removed.push(Json::object({{"session", session.newest.key.session},
                               {"versions", session.versions},
                               {"bytes", session.file_bytes},
                               {"created_at", iso8601(session.newest.created_at)}}));
  if (!dry_run && !plan.removed.empty()) {
    // Rows first: a crash in between leaves files without rows, which the next call removes.
    TRY(store::in_transaction(world.db, [&] { return archive::apply_retention(world.db, plan); }));
    TRY(archive::remove_files(world.db, world.disk, archive_of(world.home).directory));
  }
  return Json::object({{"dry_run", dry_run},
                       {"removed", removed},
                       {"bytes", plan.bytes},
                       {"pending_kept", plan.pending_kept}});
}

Result<Json> discard(World& world, const Args& args) {
  const store::Backup backup = TRY(backup_of(world, args, "id").in("discard"));
  TRY(store::in_transaction(world.db,
                            [&] { return store::discard_backups(world.db, backup, world.clock.now()); }));
  const auto newest = TRY(store::newest_backup(world.db, {backup.key.platform, backup.key.session, ""}));
  return Json::object({{"id", label(backup)},
                       {"session", backup.key.session},
                       {"version", backup.version},
                       {"pending", newest && TRY(store::is_pending(world.db, *newest))}});
}

Result<Json> repair(World& world, const Args& args) {
  const archive::Places places = archive_of(world.home);
  const auto defects = TRY(archive::find_defects(world.db, world.disk, places));
  std::vector<std::string> done;
  if (args.flag("apply")) {
    done = TRY(archive::fix_defects(world.db, world.disk, places, defects, world.clock.now()));
    TRY(archive::remove_files(world.db, world.disk, places.directory));
  }
  Json list = Json::array();
  for (std::size_t i = 0; i < defects.size(); ++i)
    list.push(Json::object({{"kind", archive::defect_name(defects[i].kind)},
                            {"file", defects[i].file},
                            {"what", defects[i].what},
                            {"done", i < done.size() ? Json(done[i]) : Json()}}));
  return Json::object({{"defects", list}, {"applied", args.flag("apply")}});
}

Json record_json(const archive::DeltaRecord& one) {
  constexpr std::size_t kText = 400;
  Json calls = Json::array();
  for (const host::RecordCall& call : one.record.calls) calls.push(call.tool);
  return Json::object({{"line", one.line},
                       {"type", one.record.type},
                       {"uuid", one.record.uuid.empty() ? Json() : Json(one.record.uuid)},
                       {"at", one.record.at ? Json(iso8601(*one.record.at)) : Json()},
                       {"tools", calls},
                       {"text", cut(one.record.text(), kText)}});
}

Result<Json> delta(World& world, const Args& args) {
  store::TranscriptKey key;
  store::Anchor anchor;
  if (const auto number = args.numbered("id"); number && number->letter == 'D') {
    const auto found = TRY(store::document_anchor(world.db, number->number));
    if (!found) return Error{Code::not_found, "delta: there is no such document"};
    key = found->key;
    anchor = found->anchor;
  } else {
    const store::Backup backup =
        TRY(backup_of(world, args, "id", args.optional_integer("version")).in("delta"));
    key = backup.key;
    anchor = archive::anchor_of(backup);
  }
  const archive::Delta found = TRY(archive::delta(world.db, world.disk, archive_of(world.home), key, anchor,
                                                  static_cast<std::size_t>(args.integer("limit")))
                                       .in("delta"));
  Json records = Json::array();
  for (const archive::DeltaRecord& one : found.shown) records.push(record_json(one));
  return Json::object({{"session", key.session},
                       {"anchor", found.anchor},
                       {"anchor_at", found.anchor_at},
                       {"backup", label(found.newest)},
                       {"version", found.newest.version},
                       {"count", found.records},
                       {"malformed", found.malformed},
                       {"records", records}});
}

}  // namespace

static const Argument kBackup =
    named("id", "a backup (B12), or a session: the beginning of its id", "the backup or the session");

static std::vector<Operation> backup_reading() {
  return {
      {.name = "backup.list",
       .group = Group::memory,
       .summary = "verified copies of transcripts, newest first",
       .help = "One row a version. A version that only adds lines shares the files of the one before it. "
               "Pending: it has lines that no document covers and that were not discarded.",
       .scope = Scope::any,
       .arguments = {session("session", "versions of that session only"),
                     flag("agents", "copies of subagents' transcripts too"),
                     integer("limit", 1, kMostRows, "at most N rows").otherwise(100)},
       .body = list},
      {.name = "backup.verify",
       .access = Access::read_slowly,
       .group = Group::memory,
       .summary = "read a backup or a transcript and name what is wrong",
       .help = "Every byte is compared with what was stored, every line must be a JSON object; a bad one is "
               "named by line and column. Takes a backup, a session or the path of a transcript. The exit "
               "code is 1 when something is wrong.",
       .arguments = {named("target", "a backup (B12), a session, or the path of a file", "what to read")
                         .as("ID|PATH")
                         .word(),
                     flag("all", "every backup")},
       .one_of = "target all",
       .body = verify},
      {.name = "backup.restore",
       .access = Access::read_slowly,
       .group = Group::memory,
       .summary = "write a transcript as it was, for you or for the host",
       .help =
           "With --into-host it goes, with its subagents' transcripts, where the host had it, and the "
           "session can be resumed there. A file that is there is never overwritten. A backup is named by "
           "its number (B12), or by the id of its session: then the newest version is meant.",
       .arguments = {kBackup.word().needed(), integer("version", 1, kMostRows, "that version of it"),
                     path("to", "the file to write").as("PATH"), flag("into_host", "where the host had it"),
                     flag("salvage", "leave out lines that are damaged instead of failing")},
       .one_of = "to into_host",
       .body = restore}};
}

std::vector<Operation> backup_operations() {
  std::vector<Operation> all = backup_reading();
  const std::vector<Operation> more = {
      {.name = "backup.clean",
       .access = Access::write,
       .group = Group::memory,
       .summary = "remove old backups that are not pending",
       .help = "By archive.keep_days, archive.keep_last and archive.max_gb unless options say otherwise. All "
               "backups of a session are removed together. Pending ones are never removed.",
       .arguments =
           {integer("older_than", 0, 100'000, "whose newest version is older than this many days").as("DAYS"),
            integer("keep_last", 0, 1'000'000, "keep the newest N sessions however old"),
            flag("dry_run", "only say what would go")},
       .body = clean},
      {.name = "backup.discard",
       .access = Access::write,
       .group = Group::memory,
       .summary = "say that a session's backup is not needed any more",
       .help =
           "It is pending no longer, so that `backup clean` may remove it when it is old enough. Nothing is "
           "removed now. What the session adds later is pending again.",
       .arguments = {kBackup.word().needed()},
       .body = discard},
      {.name = "backup.repair",
       .access = Access::write,
       .group = Group::memory,
       .summary = "find backups without files and files without rows",
       .help = "With --apply, files that can be read are registered, versions whose file is gone are dropped "
               "and copied again where the transcript is still there.",
       .arguments = {flag("apply", "fix what was found")},
       .body = repair},
      {.name = "delta",
       .access = Access::read_slowly,
       .group = Group::memory,
       .summary = "what a session did after a document or a backup",
       .help = "The place is found by the uuid of the last record, else by line and hash, else by time; the "
               "result says which. Lines that are no records are skipped and counted.",
       .arguments = {named("id", "a document (D3), a backup (B12) or a session", "where to begin")
                         .as("DOC|BACKUP")
                         .word()
                         .needed(),
                     integer("version", 1, kMostRows, "that version of the session"),
                     integer("limit", 1, kMostRows, "at most N records").otherwise(100)},
       .body = delta}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace cairn::ops
