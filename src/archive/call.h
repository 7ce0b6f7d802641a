// A tool call of an archived session: what it was given, and its result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/disk.h"
#include "store/archive.h"
#include "store/evidence.h"

namespace cairn::archive {

struct ArchivedCall {
  std::optional<std::string> input, response;
};

// Reads the newest versions of the session's transcripts until the call is found. Both texts are empty for a
// call whose lines are not in the archive, or are damaged.
Result<ArchivedCall> find_call(store::Db& db, os::Disk& disk, const std::string& directory,
                               const store::TranscriptKey& session, const std::string& call);

// Adds the texts of those events that have none, as far as the archive has them. Reads each transcript once.
Status fill_texts(store::Db& db, os::Disk& disk, const std::string& directory,
                  const store::TranscriptKey& session, std::vector<store::KeptEvent>& events);

}  // namespace cairn::archive
