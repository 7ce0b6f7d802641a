// Exports of what is remembered, and their way back.
#include <fmt/format.h>

#include "base/text.h"
#include "exchange/export.h"
#include "exchange/import.h"
#include "ops/export.h"
#include "os/path.h"
#include "store/audit.h"
#include "store/project_move.h"
#include "store/projects.h"
#include "store/tombstones.h"

namespace cairn::ops {

namespace {

// A larger export does not pass the socket in one answer.
constexpr std::size_t kMostAnswer = 64u << 20;
constexpr std::size_t kFlush = 1u << 20;  // writes are collected up to this size

Result<std::vector<std::string>> projects_to_export(World& world, const Args& args) {
  if (const auto project = TRY(project_of(world, args))) return store::scope_of(world.db, *project);
  std::vector<std::string> names;
  for (const store::ProjectTotals& totals : TRY(store::project_totals(world.db, std::nullopt, kMostRows)))
    names.push_back(totals.project.name);
  return names;
}

Result<exchange::RecordCounts> write_as(World& world, const std::string& format, const exchange::Export& what,
                                        const exchange::Sink& sink) {
  if (format == "md") return exchange::write_markdown(world.db, what, sink);
  if (format == "html") return exchange::write_html(world.db, what, sink);
  return exchange::write_json(world.db, what, sink);
}

// Writes PATH.part and renames it at the end, so that the file appears under its name only when it is
// whole.
Result<std::pair<exchange::RecordCounts, std::int64_t>> write_file(World& world, const std::string& path,
                                                                   const std::string& format,
                                                                   const exchange::Export& what) {
  if (world.disk.stat(path)) return Error{Code::invalid, "export: " + path + " exists: name a new file"};
  const std::string part = path + ".part";
  ignore(world.disk.remove(part));  // of an export that was interrupted
  std::int64_t bytes = 0;
  const auto write = [&]() -> Result<exchange::RecordCounts> {
    const auto file = TRY(world.disk.open(part, os::Open::create_new));
    std::string waiting;
    const auto flush = [&]() -> Status {
      TRY(file->write_at(static_cast<std::uint64_t>(bytes), waiting));
      bytes += static_cast<std::int64_t>(waiting.size());
      waiting.clear();
      return {};
    };
    auto counts = TRY(write_as(world, format, what, [&](std::string_view text) -> Status {
      if (world.stopping && *world.stopping)
        return Error{Code::canceled, "the daemon is ending: run it again"};
      waiting += text;
      return waiting.size() < kFlush ? Status() : flush();
    }));
    TRY(flush());
    TRY(file->sync());
    return counts;
  };
  auto counts = write();
  if (counts)
    if (const Status named = world.disk.rename(part, path); !named.ok()) counts = named.error();
  if (!counts) {
    ignore(world.disk.remove(part));
    return std::move(counts).error().in("export: " + path);
  }
  TRY(world.disk.sync_dir(os::above(path)));
  return std::pair(*std::move(counts), bytes);
}

Json numbers_json(const std::map<std::string, std::int64_t>& numbers) {
  Json out = Json::object();
  for (const auto& [name, number] : numbers) out.set(name, number);
  return out;
}

}  // namespace

Status note_export(World& world, const std::string& to, const std::string& detail) {
  const auto add = [key = world.key, to, detail, at = world.clock.now()](store::Db& db) {
    return store::add_audit(db, key, "export", "person", to, detail, at);
  };
  // An export only reads, so the daemon's writer adds the entry; without a daemon it is written here.
  if (!world.write_later) return store::in_transaction(world.db, [&] { return add(world.db); });
  world.write_later(add);
  return {};
}

Result<Json> export_memory(World& world, const Args& args) {
  // The records that are being removed must not leave the home any more.
  if (TRY(store::pending_forget(world.db)))
    return Error{Code::busy, "export: a forget is at work: run it again when that is done"};
  // Its rows have the old name and the new one until all have moved: a project would be exported in part.
  if (TRY(store::is_moving(world.db)))
    return Error{Code::busy, "export: a project is being renamed: run it again in a minute"};
  const std::string format = args.optional_text("format").value_or("json");
  exchange::Export what;
  what.projects = TRY(projects_to_export(world, args));
  what.tombstones = !args.flag("no_tombstones");
  what.home_key = world.key;
  what.program = "cairn " CAIRN_VERSION;
  what.now = world.clock.now();
  Json projects = Json::array();
  for (const std::string& name : what.projects) projects.push(name);
  Json out = Json::object({{"format", format}, {"projects", projects}});
  exchange::RecordCounts counts;
  if (const auto to = args.optional_text("to")) {
    auto written = TRY(write_file(world, *to, format, what));
    counts = std::move(written.first);
    out.set("to", *to).set("bytes", written.second);
  } else {
    std::string text;
    counts = TRY(write_as(world, format, what, [&](std::string_view more) -> Status {
      if (text.size() + more.size() > kMostAnswer)
        return Error{Code::full, "export: it is over 64 MB: name a file to write it to"};
      text += more;
      return {};
    }));
    out.set("to", Json()).set("bytes", text.size()).set("text", std::move(text));
  }
  std::int64_t records = 0;
  for (const auto& [kind, count] : counts) records += count;
  TRY(note_export(world, args.optional_text("to").value_or("stdout"),
                  Json::object({{"format", format}, {"records", records}}).dump()));
  return out.set("records", numbers_json(counts));
}

Result<Json> import_export(World& world, const Args& args) {
  const std::string path = args.text("file");
  const bool dry_run = args.flag("dry_run");
  exchange::ImportReport report;
  // One transaction for the whole file: a file that is damaged at its end changes nothing. A dry run does the
  // same work and rolls it back, so that its report is exact.
  {
    auto transaction = TRY(store::Transaction::begin(world.db));
    exchange::Import import(world.db, world.disk, world.clock, world.intake->gate(), world.key);
    report = TRY(import.run(path).in("import: " + path));
    std::int64_t records = 0;
    for (const auto& [kind, count] : report.imported) records += count;
    for (const auto& [kind, count] : report.changed) records += count;
    if (!dry_run) {
      if (records > 0 || report.tombstones > 0)
        TRY(store::add_audit(world.db, world.key, "import", "person", path,
                             Json::object({{"records", records}, {"tombstones", report.tombstones}}).dump(),
                             world.clock.now()));
      TRY(transaction.commit());
    }
  }
  if (!dry_run && report.tombstones > 0) world.settings_changed = true;  // the gate must know them
  Json projects = Json::array();
  for (const auto& match : report.projects)
    projects.push(Json::object({{"there", match.there}, {"here", match.here}, {"new", match.is_new}}));
  return Json::object({{"file", path},
                       {"dry_run", dry_run},
                       {"projects", projects},
                       {"imported", numbers_json(report.imported)},
                       {"changed", numbers_json(report.changed)},
                       {"known", numbers_json(report.known)},
                       {"left_out", numbers_json(report.left_out)},
                       {"tombstones", report.tombstones},
                       {"forget", dry_run ? Json() : number_or_null(report.forget)}});
}

}  // namespace cairn::ops
