// What happened in a session after a document or a version of its transcript.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/copy.h"
#include "base/result.h"
#include "host/record.h"
#include "store/archive.h"

namespace cairn::archive {

struct DeltaRecord {
  std::int64_t line = 0;
  host::TranscriptRecord record;
};

struct Delta {
  std::string anchor;     // by what the place was found: "uuid", "line" or "instant"
  std::string anchor_at;  // for people: "line 412"
  store::Backup newest;   // what was read
  std::int64_t records = 0;
  std::vector<DeltaRecord> shown;  // the first of them, at most the limit
  std::int64_t malformed = 0;      // lines after the anchor that are not records
};

// Reads what the newest backup of the session `key` has after `anchor`. The place is found by the uuid of the
// anchor's last record, else by its number of lines if their hash is the same, else by its time. `not_found`
// when none of these finds it.
Result<Delta> delta(store::Db& db, os::Disk& disk, const Places& places, const store::TranscriptKey& key,
                    const store::Anchor& anchor, std::size_t limit);

// The same, line by line: calls `take` for each line that is a JSON object, with its number.
// `Delta::records` counts them, `shown` is empty.
using TakeLine = std::function<void(std::string_view line, std::int64_t number)>;
Result<Delta> each_after(store::Db& db, os::Disk& disk, const Places& places, const store::TranscriptKey& key,
                         const store::Anchor& anchor, const TakeLine& take);

// The anchor at the end of a backup.
store::Anchor anchor_of(const store::Backup& backup);
// The same, with the counts that find its place even when only the uuid or only the time can be found again.
// Reads the backup.
Result<store::Anchor> whole_anchor(store::Db& db, os::Disk& disk, const Places& places,
                                   const store::Backup& backup);

}  // namespace cairn::archive
