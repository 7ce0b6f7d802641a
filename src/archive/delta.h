// What happened in a session after a document or a version of its transcript.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "archive/copy.h"
#include "base/result.h"
#include "host/record.h"
#include "store/archive.h"

namespace cairn::archive {

struct DeltaRecord {
  std::int64_t line = 0;
  host::Record record;
};

struct Delta {
  std::string anchor;     // how the place was found: by "uuid", "line" or "instant" (time)
  std::string anchor_at;  // for people: "line 412"
  store::Backup newest;   // the version that was read
  std::int64_t records = 0;
  std::vector<DeltaRecord> shown;  // the first records, at most the limit
  std::int64_t malformed = 0;      // lines after the anchor that are not records
};

// Reads what the newest backup of the session `key` has after `anchor`. The place is found by the uuid of the
// anchor's last record, else by its number of lines if their hash is the same, else by its time. Fails with
// `not_found` when none of these works.
Result<Delta> delta(store::Db& db, os::Disk& disk, const Places& places, const store::TranscriptKey& key,
                    const store::Anchor& anchor, std::size_t limit);

// The anchor at the end of a backup.
store::Anchor anchor_of(const store::Backup& backup);

}  // namespace cairn::archive
