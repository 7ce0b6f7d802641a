#include "archive/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "archive/verify.h"

namespace cairn::archive {

namespace {

// Makes rows from the content of a trailer.
struct Rows {
  store::BackupBase base;
  store::BackupSegment segment;
  store::Backup backup;
};

Result<Rows> read_rows(os::Disk& disk, const Places& places, const std::string& file) {
  const std::string path = places.directory + "/" + file;
  const Json about = TRY(read_trailer(disk, path));
  const auto text = [&](const char* key) { return std::string(about[key].as_string()); };
  Rows rows;
  rows.base.key = {text("platform"), text("session"), text("agent")};
  rows.base.ordinal = about["base"].as_int();
  rows.base.is_redacted = about["redacted"].as_bool();
  rows.base.state = text("state");
  rows.segment = {about["segment"].as_int(),
                  0,
                  "",
                  about["segment_bytes"].as_int(),
                  about["segment_lines"].as_int(),
                  text("frames")};
  // "HASH-1.12.zst": the dot before the 12 ends the name of the base.
  const std::size_t end = file.rfind('.', file.size() - 5);
  rows.base.name = file.substr(0, end);
  if (rows.base.key.session.empty() || store::segment_file(rows.base.name, rows.segment.ordinal) != file)
    return Error{Code::corrupt, file + " does not match its name"};
  rows.segment.file_bytes = static_cast<std::int64_t>(TRY(disk.stat(path)).size);
  store::Backup& b = rows.backup;
  b.key = rows.base.key;
  b.segments = rows.segment.ordinal;
  b.project = text("project");
  b.source_path = text("source_path");
  b.cause = store::named<store::BackupCause>(text("cause")).value_or(b.cause);
  b.reason = text("reason");
  b.source_bytes = about["source_bytes"].as_int();
  b.source_sha256 = text("source_sha256");
  b.lines = about["lines"].as_int();
  b.malformed = about["malformed"].as_int();
  if (about["bad_line"].is_int()) b.bad_line = about["bad_line"].as_int();
  if (about["bad_column"].is_int()) b.bad_column = about["bad_column"].as_int();
  b.rewritten = about["rewritten"].as_int();
  return rows;
}

Result<std::string> file_hash(os::Disk& disk, const std::string& path) {
  auto file = TRY(disk.open(path, os::Open::read_own));
  Sha256 hash;
  std::string block(kStepBytes, '\0');
  for (std::uint64_t at = 0;;) {
    const std::size_t got = TRY(file->read_at(at, block.data(), block.size()));
    if (got == 0) return hash.hex();
    hash.add(std::string_view(block).substr(0, got));
    at += got;
  }
}

// Registers a segment whose predecessors are registered, after reading all of them.
Status register_file(store::Db& db, os::Disk& disk, const Places& places, Rows rows, WallTime now) {
  const std::string path = places.directory + "/" + store::segment_file(rows.base.name, rows.segment.ordinal);
  rows.segment.sha256 = TRY(file_hash(disk, path));
  std::vector<store::BackupSegment> segments;
  if (const auto base = TRY(store::newest_base(db, rows.base.key)); base && base->name == rows.base.name) {
    rows.base.id = base->id;
    // A version is all files of its base up to this one, so its hash needs the text of the files before it.
    segments = TRY(store::segments_of(db, base->id, rows.segment.ordinal - 1));
  } else if (base && base->ordinal == rows.base.ordinal) {
    return Error{Code::corrupt, "a forget has replaced it: remove it yourself"};
  }
  if (std::ssize(segments) != rows.segment.ordinal - 1)
    return Error{Code::corrupt, "the files before it are not there"};
  segments.push_back(rows.segment);
  VersionReader reader(disk, places.directory, rows.base.name, std::move(segments));
  Sha256 hash;
  FrameText frame;
  const host::Host& host = host::find_host(rows.base.key.platform);
  std::int64_t lines = 0;
  while (reader.next(frame)) {
    if (frame.fault) return Error{Code::corrupt, *frame.fault};
    hash.add(frame.text);
    lines += frame.lines;
    rows.backup.bytes += static_cast<std::int64_t>(frame.text.size());
    const std::string_view text = frame.text;
    // The last record with a uuid, from the end of the frame; a later frame replaces what an earlier one
    // gave.
    for (std::size_t end = text.size(), n = 0; end > 0 && n < 50; ++n) {
      const std::size_t begin = end < 2 ? 0 : text.rfind('\n', end - 2) + 1;
      const Json line = Json::parse_partial(text.substr(begin, end - begin)).value;
      end = begin;
      if (!line.is_object()) continue;
      const host::TranscriptRecord record = host.read_record(line);
      if (record.uuid.empty()) continue;
      rows.backup.last_uuid = record.uuid;
      rows.backup.last_record_at = record.at;
      break;
    }
  }
  if (lines != rows.backup.lines) return Error{Code::corrupt, "its lines do not match its trailer"};
  rows.backup.sha256 = hash.hex();
  // A trailer has no time.
  rows.backup.created_at = rows.backup.verified_at = now;
  return store::in_transaction(db, [&]() -> Status {
    TRY(store::add_backup(db, rows.base, rows.segment, rows.backup));
    return {};
  });
}

Result<std::string> fix_missing(store::Db& db, os::Disk& disk, const Defect& defect, WallTime now) {
  const auto base = TRY(store::find_base(db, defect.base));
  // Several files of one base are missing, and an earlier defect has removed the base.
  if (!base) return std::string("dropped with the files before it");
  const auto newest = TRY(store::newest_backup(db, base->key));
  const bool there = newest && disk.stat(newest->source_path).ok();
  TRY(store::in_transaction(db, [&]() -> Status {
    TRY(store::remove_versions_from(db, defect.base, defect.segment));
    if (!there) return {};
    store::BackupRequest request{0,
                                 base->key.platform,
                                 base->key.session,
                                 newest->source_path,
                                 store::BackupCause::sweep,
                                 "",
                                 now,
                                 now,
                                 0,
                                 {}};
    TRY(store::request_once(db, request));
    return {};
  }));
  return std::string(there ? "its versions were dropped; the transcript is copied again"
                           : "its versions were dropped; the transcript is gone too");
}

// HASH-BASE.SEGMENT.zst, or HASH-BASEfFORGET.SEGMENT.zst after a forget; nothing for another name.
struct Name {
  std::string whose;
  std::int64_t base = 0, forget = 0, segment = 0;
  auto operator<=>(const Name&) const = default;
};
std::optional<Name> read_name(std::string_view file) {
  constexpr std::string_view kEnd = ".zst";
  // The hash has 32 digits.
  const std::size_t dash = file.find('-'), dot = file.find('.');
  if (dash != 32 || dot == std::string_view::npos || dot < dash || !file.ends_with(kEnd)) return std::nullopt;
  Name name{std::string(file.substr(0, dash)), 0, 0, 0};
  const auto number = [](std::string_view digits, std::int64_t& to) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), to);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  file.remove_suffix(kEnd.size());
  if (dot >= file.size() || !number(file.substr(dot + 1), name.segment)) return std::nullopt;
  const std::string_view base = file.substr(dash + 1, dot - dash - 1);
  const std::size_t mark = base.find('f');
  if (!number(base.substr(0, mark), name.base) ||
      (mark != std::string_view::npos && !number(base.substr(mark + 1), name.forget)))
    return std::nullopt;
  // The files of the last forget come first: those before it have what was forgotten.
  name.forget = -name.forget;
  return name;
}

}  // namespace

std::string_view defect_name(Defect::Kind kind) {
  switch (kind) {
    case Defect::Kind::missing: return "missing";
    case Defect::Kind::unregistered: return "unregistered";
    case Defect::Kind::foreign: return "foreign";
    case Defect::Kind::leftover: return "leftover";
  }
  return "";
}

Result<std::vector<Defect>> find_defects(store::Db& db, os::Disk& disk, const Places& places) {
  std::vector<Defect> defects;
  std::map<std::string, store::ArchiveFile> rows;
  for (store::ArchiveFile& file : TRY(store::archive_files(db))) rows.emplace(file.file, file);
  const auto removals = TRY(store::removals(db));
  for (const auto& [name, row] : rows) {
    const auto stat = disk.stat(places.directory + "/" + name);
    if (stat && static_cast<std::int64_t>(stat->size) == row.bytes) continue;
    defects.push_back(
        {Defect::Kind::missing, name,
         stat ? fmt::format("{} bytes instead of {}", stat->size, row.bytes) : stat.error().message, row.base,
         row.segment});
  }
  // In the order of their numbers: a file can be registered only after those before it.
  std::vector<Defect> files;
  auto names = disk.list(places.directory);
  if (names) {
    std::sort(names->begin(), names->end(), [](const std::string& a, const std::string& b) {
      return std::pair(read_name(a), a) < std::pair(read_name(b), b);
    });
    for (const std::string& name : *names) {
      if (name == "tmp" || rows.contains(name) || std::ranges::count(removals, name) > 0) continue;
      const auto found = read_name(name) ? read_rows(disk, places, name).in("read")
                                         : Result<Rows>(Error{Code::invalid, "not a file of the archive"});
      files.push_back({found ? Defect::Kind::unregistered : Defect::Kind::foreign, name,
                       found ? "not in the database" : found.error().message});
    }
  }
  defects.insert(defects.end(), files.begin(), files.end());
  if (const auto left = disk.list(places.temporary()))
    for (const std::string& name : *left)
      if (name != kTemporary)  // the next copy replaces it
        defects.push_back({Defect::Kind::leftover, "tmp/" + name, "of a copy that did not end"});
  return defects;
}

Result<std::vector<std::string>> fix_defects(store::Db& db, os::Disk& disk, const Places& places,
                                             const std::vector<Defect>& defects, WallTime now) {
  std::vector<std::string> done;
  for (const Defect& defect : defects) {
    std::string what;
    if (defect.kind == Defect::Kind::missing) {
      what = TRY(fix_missing(db, disk, defect, now));
    } else if (defect.kind == Defect::Kind::leftover) {
      const auto gone = disk.remove(places.directory + "/" + defect.file);
      what = gone ? "removed" : gone.error().message;
    } else if (defect.kind == Defect::Kind::foreign) {
      what = "left alone: remove it yourself";
    } else {
      auto rows = TRY(read_rows(disk, places, defect.file));
      const auto added = register_file(db, disk, places, std::move(rows), now);
      // A file that cannot be registered does not keep the others from being repaired. An error of the
      // store does.
      if (!added && added.error().code != Code::corrupt) return added.error();
      what = added ? "registered" : "left alone: " + added.error().message;
    }
    done.push_back(std::move(what));
  }
  return done;
}

}  // namespace cairn::archive
