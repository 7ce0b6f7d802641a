#include "archive/delta.h"

#include <fmt/format.h>

#include "host/host.h"

namespace cairn::archive {

// Two passes over the newest version. The first finds the last line that the anchor covers, in three ways,
// because transcripts are rewritten and records may lack a uuid or a time. The second reads the lines after
// it.

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

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

host::TranscriptRecord read_line(const host::Host& host, std::string_view line) {
  const Json value = Json::parse_partial(line).value;
  return value.is_object() ? host.read_record(value) : host::TranscriptRecord{};
}

// The last line that the anchor covers, found by each method; empty: not found.
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
    if (!anchor.uuid.empty() && line.find(anchor.uuid) != std::string_view::npos &&
        read_line(host, line).uuid == anchor.uuid)
      // The anchor may end some lines after the last record that has a uuid.
      found.by_uuid = number + anchor.behind_uuid.value_or(0);
    if (!anchor.lines || number > *anchor.lines) return;
    hash.add(line);
    hash.add("\n");
    if (number == *anchor.lines && hash.hex() == anchor.sha256) found.by_line = number;
  }));
  // The anchor is before the first line: the loop above sees no line with this number.
  if (anchor.lines && *anchor.lines == 0) found.by_line = 0;
  return found;
}

// Times need not be in order and may be equal. The anchor therefore stores how many lines have its time and
// how many lines without a time follow. If that does not help, the delta starts at the first later line: one
// line too many is better than one missing.
Result<std::int64_t> find_instant(store::Db& db, os::Disk& disk, const Places& places,
                                  const store::Backup& newest, const store::Anchor& anchor) {
  const host::Host& host = host::find_host(newest.key.platform);
  std::int64_t lost = 0, same = 0, last = 0;
  std::optional<std::int64_t> place, first_later;
  TRY(each_line(db, disk, places, newest, lost, [&](std::string_view line, std::int64_t number) {
    last = number;
    const auto at = read_line(host, line).at;
    if (!at) return;
    if (*at == *anchor.at && ++same == anchor.same_time) place = number + anchor.behind_at.value_or(0);
    if (*at > *anchor.at && !first_later) first_later = number;
  }));
  if (place) return *place;
  return first_later ? *first_later - 1 : last;
}

}  // namespace

store::Anchor anchor_of(const store::Backup& backup) {
  return {backup.last_uuid,
          backup.lines,
          backup.sha256,
          backup.last_record_at ? backup.last_record_at : std::optional(backup.created_at),
          {},
          {},
          {}};
}

Result<store::Anchor> whole_anchor(store::Db& db, os::Disk& disk, const Places& places,
                                   const store::Backup& backup) {
  store::Anchor anchor = anchor_of(backup);
  const host::Host& host = host::find_host(backup.key.platform);
  // Parse only lines that can have this time.
  const std::string second = backup.last_record_at ? iso8601(*backup.last_record_at).substr(0, 19) : "";
  std::int64_t lost = 0, last = 0, uuid_line = 0, at_line = 0, same = 0;
  TRY(each_line(db, disk, places, backup, lost, [&](std::string_view line, std::int64_t number) {
    last = number;
    const bool names = !anchor.uuid.empty() && line.find(anchor.uuid) != std::string_view::npos;
    const bool timed = !second.empty() && line.find(second) != std::string_view::npos;
    if (!names && !timed) return;
    const host::TranscriptRecord record = read_line(host, line);
    if (names && record.uuid == anchor.uuid) uuid_line = number;
    if (!record.at || record.at != backup.last_record_at) return;
    ++same;
    at_line = number;
  }));
  if (uuid_line > 0) anchor.behind_uuid = last - uuid_line;
  if (at_line > 0) {
    anchor.behind_at = last - at_line;
    anchor.same_time = same;
  }
  return anchor;
}

Result<Delta> each_after(store::Db& db, os::Disk& disk, const Places& places, const store::TranscriptKey& key,
                         const store::Anchor& anchor, const TakeLine& take) {
  const auto newest = TRY(store::newest_backup(db, key));
  if (!newest) return Error{Code::not_found, "session " + key.session + " has no backup"};
  Found found = TRY(find_anchor(db, disk, places, *newest, anchor));
  Delta delta;
  delta.newest = *newest;
  std::int64_t from = 0;
  if (found.by_uuid) {
    delta.anchor = "uuid";
    // Lines without a uuid may follow the last record that has one: those of the anchor are no delta.
    from = std::max(*found.by_uuid, found.by_line.value_or(0));
    delta.anchor_at = fmt::format("uuid {}, line {}", anchor.uuid, from);
  } else if (found.by_line) {
    delta.anchor = "line";
    from = *found.by_line;
    delta.anchor_at = fmt::format("line {}", from);
  } else if (anchor.at) {
    delta.anchor = "instant";
    delta.anchor_at = iso8601(*anchor.at);
    from = TRY(find_instant(db, disk, places, *newest, anchor));
  } else {
    return Error{Code::not_found,
                 "the anchor has neither record, lines nor time: what came later is unknown"};
  }
  TRY(each_line(db, disk, places, *newest, delta.malformed, [&](std::string_view text, std::int64_t number) {
    if (number <= from || is_blank(text)) return;
    if (line_fault(text)) {
      ++delta.malformed;
      return;
    }
    ++delta.records;
    take(text, number);
  }));
  return delta;
}

Result<Delta> delta(store::Db& db, os::Disk& disk, const Places& places, const store::TranscriptKey& key,
                    const store::Anchor& anchor, std::size_t limit) {
  const host::Host& host = host::find_host(key.platform);
  std::vector<DeltaRecord> shown;
  Delta delta =
      TRY(each_after(db, disk, places, key, anchor, [&](std::string_view line, std::int64_t number) {
        if (shown.size() < limit)
          shown.push_back({number, host.read_record(Json::parse_partial(line).value)});
      }));
  delta.shown = std::move(shown);
  return delta;
}

}  // namespace cairn::archive
