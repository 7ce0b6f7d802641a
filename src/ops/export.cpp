// Copies of the whole store: made while the daemon works, checked, and brought back.
#include "ops/export.h"

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"
#include "forget/job.h"
#include "forget/select.h"
#include "forget/tombstones.h"
#include "ops/operation.h"
#include "os/path.h"
#include "store/archive.h"
#include "store/audit.h"
#include "store/copy_store.h"
#include "store/tombstones.h"

namespace cairn::ops {

namespace {

constexpr std::size_t kBlock = 1u << 20;
constexpr std::string_view kManifest = "manifest.json", kStore = "cairn.db", kKey = "key";

struct Copied {
  std::int64_t bytes = 0;
  std::string sha256;
};

// Copies a file and hashes what it copies, so that the manifest needs no second reading.
Result<Copied> copy_file(os::Disk& disk, const std::string& from, const std::string& to) {
  auto source = TRY(disk.open(from, os::Open::read));
  auto target = TRY(disk.open(to, os::Open::create_new));
  Copied copied;
  Sha256 hash;
  std::string block(kBlock, '\0');
  while (const std::size_t got =
             TRY(source->read_at(static_cast<std::uint64_t>(copied.bytes), block.data(), kBlock))) {
    const std::string_view bytes(block.data(), got);
    TRY(target->write_at(static_cast<std::uint64_t>(copied.bytes), bytes));
    hash.add(bytes);
    copied.bytes += static_cast<std::int64_t>(got);
  }
  TRY(target->sync());
  copied.sha256 = hash.hex();
  return copied;
}

Result<std::string> hash_of(os::Disk& disk, const std::string& path) {
  auto file = TRY(disk.open(path, os::Open::read));
  Sha256 hash;
  std::string block(kBlock, '\0');
  for (std::uint64_t at = 0; const std::size_t got = TRY(file->read_at(at, block.data(), kBlock)); at += got)
    hash.add(std::string_view(block.data(), got));
  return hash.hex();
}

// Copies the store while the daemon works. The rows come first: files of the archive are written before
// their rows, so every file that the copied rows name exists already. The manifest comes last: a directory
// without one is an export that was interrupted.
Result<Json> export_store(World& world, const std::string& path) {
  if (world.disk.stat(path)) {
    const auto names = world.disk.list(path);
    if (!names || !names->empty())
      return Error{Code::invalid, "export: " + path + " is not empty: name a new directory"};
  }
  TRY(os::make_dirs(world.disk, path + "/archive"));
  TRY(store::write_copy(world.db, path + "/cairn.db").in("export"));
  // A copy of a damaged store would be found out only when it is needed.
  TRY(store::check_copy(path + "/cairn.db").in("export"));
  Json files = Json::array();
  std::int64_t bytes = 0;
  const auto add = [&](const std::string& name, const Copied& copied) {
    files.push(Json::object({{"file", name}, {"bytes", copied.bytes}, {"sha256", copied.sha256}}));
    bytes += copied.bytes;
  };
  const auto stat = TRY(world.disk.stat(path + "/cairn.db"));
  add(std::string(kStore),
      {static_cast<std::int64_t>(stat.size), TRY(hash_of(world.disk, path + "/cairn.db"))});
  add(std::string(kKey), TRY(copy_file(world.disk, world.home.key(), path + "/key")));
  for (const store::ArchiveFile& file : TRY(store::archive_files(world.db))) {
    if (world.stopping && *world.stopping)
      return Error{Code::canceled, "export: the daemon is ending: run it again"};
    const std::string name = "archive/" + file.file;
    // Retention or a forget may have removed the file since the rows were copied.
    auto copied = copy_file(world.disk, world.home.data + "/" + name, path + "/" + name);
    if (!copied && copied.error().code == Code::not_found) continue;
    add(name, TRY(std::move(copied)));
  }
  const Json manifest = Json::object(
      {{"version", 1}, {"made_at", iso8601(world.clock.now())}, {"files", files}, {"bytes", bytes}});
  TRY(os::replace_file(world.disk, path + "/" + std::string(kManifest), manifest.dump() + "\n"));
  TRY(note_export(world, path, "{\"store\":true}"));
  return Json::object(
      {{"store", path}, {"files", files.items().size()}, {"bytes", bytes}, {"verified", true}});
}

Result<Json> export_any(World& world, const Args& args) {
  return args.has("store") ? export_store(world, args.text("store")) : export_memory(world, args);
}

// Every file must be what the manifest says.
Result<Json> check_manifest(World& world, const std::string& path) {
  const std::string text = TRY(os::read_file(world.disk, path + "/" + std::string(kManifest), 64u << 20)
                                   .in("import: not a copy that `cairn export --store` made"));
  const auto manifest = Json::parse(text);
  if (!manifest) return Error{Code::corrupt, "import: " + path + "/manifest.json is damaged"};
  for (const Json& file : (*manifest)["files"].items()) {
    const std::string name(file["file"].as_string());
    // The copy may come from anywhere: a file must not be read or written outside of it.
    if (name.starts_with('/') || name.find("..") != std::string::npos)
      return Error{Code::corrupt, "import: the manifest names a file outside of the copy"};
    if (TRY(hash_of(world.disk, path + "/" + name).in("import")) != file["sha256"].as_string())
      return Error{Code::corrupt, "import: " + path + "/" + name + " is damaged: nothing was changed"};
  }
  return *manifest;
}

// What was forgotten here stays forgotten, whatever the copy has.
Result<std::int64_t> forget_again(World& world, const std::vector<store::TombstoneRow>& tombstones) {
  if (tombstones.empty()) return std::int64_t{0};
  std::vector<gate::Tombstone> named;
  for (const store::TombstoneRow& row : tombstones) named.push_back(forget::tombstone_of(row));
  const auto selection =
      TRY(forget::select_named(world.db, world.key, store::ForgetWay::restore, std::move(named)));
  std::int64_t id = 0;
  TRY(store::in_transaction(world.db, [&]() -> Status {
    id = TRY(forget::begin(world.db, world.key, selection, {}, world.clock.now()));
    return {};
  }));
  return id;
}

// Brings back a copy, in this order: everything is checked, then files are added to the archive, then one
// transaction replaces the store. Until then the old rows are untouched. A file of the archive is replaced
// only when it has another content than the copy's.
Result<Json> import_store(World& world, const Args& args) {
  const std::string path = args.text("store");
  const Json manifest = TRY(check_manifest(world, path));
  TRY(store::check_copy(path + "/cairn.db").in("import"));
  const std::string key = TRY(os::read_file(world.disk, path + "/key", 64).in("import"));
  const auto tombstones = TRY(store::tombstones(world.db));  // read now: the copy replaces them
  // Tombstones are made with the home's key. With another key they could not be found in the copy.
  const bool same_key = key == world.key;
  if (!same_key && !tombstones.empty())
    return Error{
        Code::denied,
        "import: the copy is of another home, and things were forgotten here that it could bring back: "
        "restore it into an empty CAIRN_HOME instead"};
  if (args.flag("dry_run"))
    return Json::object({{"store", path}, {"files", manifest["files"].items().size()}, {"dry_run", true}});
  TRY(os::make_dirs(world.disk, world.home.data + "/archive"));
  std::int64_t files = 0;
  for (const Json& file : manifest["files"].items()) {
    const std::string name(file["file"].as_string());
    if (!name.starts_with("archive/")) continue;
    const std::string to = world.home.data + "/" + name;
    if (const auto known = hash_of(world.disk, to); known && *known == file["sha256"].as_string()) continue;
    ignore(world.disk.remove(to));
    TRY(copy_file(world.disk, path + "/" + name, to).in("import"));
    ++files;
  }
  // The files must be on the disk before rows name them.
  TRY(world.disk.sync_dir(world.home.data + "/archive"));
  TRY(store::restore_copy(world.db, path + "/cairn.db", world.clock.now()).in("import"));
  if (!same_key) TRY(os::replace_file(world.disk, world.home.key(), key));
  const std::int64_t again = TRY(forget_again(world, tombstones));
  TRY(store::in_transaction(world.db, [&] {
    return store::add_audit(world.db, same_key ? world.key : key, "import", "person", path,
                            "{\"store\":true}", world.clock.now());
  }));
  world.settings_changed = true;  // the gate must know the tombstones of the copy
  return Json::object({{"store", path},
                       {"files", files},
                       {"dry_run", false},
                       {"forget", again > 0 ? Json(again) : Json()},
                       {"restart", true}});
}

}  // namespace

std::vector<Operation> export_operations() {
  return {
      {.name = "export",
       .access = Access::read_slowly,
       .group = Group::setup,
       .summary = "write what is remembered to one file, or copy the whole store",
       .help =
           "Of this project and those linked with it, or of all (--all). json has everything that is "
           "remembered "
           "(sessions, prompts, answers, observations, summaries, open items, documents, your corrections) "
           "and is "
           "read back by `cairn import cairn`; md and html are one page to read and print. Events and "
           "transcripts are not in it.\n\n"
           "What was forgotten is not in it; json also has its keyed hashes, so that it stays forgotten "
           "where "
           "the file is imported. --no-tombstones leaves them out: for a file that others get.\n\n"
           "--store copies everything into a new directory: the store, the archive, the key and a manifest "
           "with their hashes, consistent while the daemon works. A plain copy of cairn.db is not a backup: "
           "what was stored last is still in its WAL. `cairn import --store PATH` brings it back.",
       .scope = Scope::any,
       .arguments =
           {choice("format", "json|md|html", "json (default), or a page for people"),
            path("to", "the file to write, with mode 0600 (default: stdout)").as("PATH"),
            flag("no_tombstones", "without the hashes of what was forgotten"),
            path("store", "copy everything into this directory").not_with("format to no_tombstones")},
       .body = export_any},
      {.name = "import",
       .access = Access::write,
       .group = Group::setup,
       .summary = "bring back a copy that `cairn export --store` wrote",
       .help =
           "Replaces everything that is remembered here, after every file of the copy was checked. What was "
           "forgotten here since stays forgotten. Asks first.",
       .arguments = {path("store", "the directory of the copy").as("PATH").needed(),
                     flag("dry_run", "check the copy; change nothing")},
       .body = import_store}};
}

}  // namespace cairn::ops
