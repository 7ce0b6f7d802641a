#include "archive/delta.h"

#include <fmt/format.h>

#include "host/host.h"

namespace cairn::archive {

namespace {

// Calls `take(line, number)` for every line of the version; damaged frames are counted in `lost`.
template <class Take>
Status each_line(store::Db& db, os::Disk& disk, const Places& places, const store::Backup& backup,
                 std::int64_t& lost, Take&& take) {
  VersionReader reader = TRY(open_version(db, disk, places.directory, backup));
  FrameText frame;
  while (reader.next(frame)) {
    if (frame.fault) lost += frame.lines;
    std::int64_t number = frame.first_line;
    const std::string_view text = frame.text;
    for (std::size_t begin = 0; begin < text.size(); ++number) {
      const std::size_t feed = std::min(text.find('\n', begin), text.size());
      take(text.substr(begin, feed - begin), number);
      begin = feed + 1;
    }
  }
  return {};
}

// The line after which the delta begins; nothing when it can only be found by its time.
struct Found {
  std::optional<std::int64_t> by_uuid, by_line;
};

Result<Found> find_anchor(store::Db& db, os::Disk& disk, const Places& places, const store::Backup& newest,
                          const store::Anchor& anchor) {
  const host::Host& host = host::find_host(newest.key.platform);
  Found found;
  Sha256 hash;
  std::int64_t lost = 0;
  TRY(each_line(db, disk, places, newest, lost, [&](std::string_view line, std::int64_t number) {
    // Parse only lines that contain the uuid: most do not.
    if (!anchor.uuid.empty() && line.find(anchor.uuid) != std::string_view::npos) {
      const Json value = Json::parse_partial(line).value;
      if (value.is_object() && host.read_record(value).uuid == anchor.uuid) found.by_uuid = number;
    }
    if (!anchor.lines || number > *anchor.lines) return;
    hash.add(line);
    hash.add("\n");
    if (number == *anchor.lines && hash.hex() == anchor.sha256) found.by_line = number;
  }));
  if (anchor.lines && *anchor.lines == 0) found.by_line = 0;
  return found;
}

}  // namespace

store::Anchor anchor_of(const store::Backup& backup) {
  return {backup.last_uuid, backup.lines, backup.sha256,
          backup.last_record_at ? backup.last_record_at : std::optional(backup.created_at)};
}

Result<Delta> delta(store::Db& db, os::Disk& disk, const Places& places, const store::TranscriptKey& key,
                    const store::Anchor& anchor, std::size_t limit) {
  const auto newest = TRY(store::newest_backup(db, key));
  if (!newest) return Error{Code::not_found, "session " + key.session + " has no backup"};
  const Found found = TRY(find_anchor(db, disk, places, *newest, anchor));
  Delta delta;
  delta.newest = *newest;
  const auto line = found.by_uuid ? found.by_uuid : found.by_line;
  if (line) {
    // Lines without a uuid may follow the anchor's last record. They belong to the anchor, not to the delta.
    const bool both = found.by_uuid && found.by_line && *found.by_line >= *found.by_uuid;
    delta.anchor = found.by_uuid ? "uuid" : "line";
    delta.anchor_at =
        found.by_uuid ? fmt::format("uuid {}, line {}", anchor.uuid, *line) : fmt::format("line {}", *line);
    if (both) delta.anchor_at = fmt::format("uuid {}, line {}", anchor.uuid, *found.by_line);
  } else if (anchor.at) {
    delta.anchor = "instant";
    delta.anchor_at = iso8601(*anchor.at);
  } else {
    return Error{Code::not_found,
                 "the anchor has neither record, lines nor time: what came later is unknown"};
  }
  std::int64_t from = line.value_or(0);
  if (found.by_uuid && found.by_line) from = std::max(*found.by_uuid, *found.by_line);
  const host::Host& host = host::find_host(key.platform);
  bool behind = false;  // by time: a record without a time belongs to the one before it
  TRY(each_line(db, disk, places, *newest, delta.malformed, [&](std::string_view text, std::int64_t number) {
    if (number <= from || text.find_first_not_of(" \t\r") == std::string_view::npos) return;
    if (line_fault(text)) {
      ++delta.malformed;
      return;
    }
    host::Record record = host.read_record(Json::parse_partial(text).value);
    if (delta.anchor == "instant") {
      if (record.at) behind = *record.at > *anchor.at;
      if (!behind) return;
    }
    ++delta.records;
    if (delta.shown.size() < limit) delta.shown.push_back({number, std::move(record)});
  }));
  return delta;
}

}  // namespace cairn::archive
