// Observations: one learned thing each. Keyed by the memory id of their session.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

struct Observation {
  std::int64_t id = 0;
  std::string session;  // content id
  std::string project;
  std::string type = "change";
  std::string title;
  std::string subtitle;
  std::string narrative;
  std::vector<std::string> facts, concepts, files_read, files_modified;
  std::optional<std::int64_t> prompt_number;
  WallTime created_at;
};

Result<ObservationId> add_observation(Db& db, const MemoryId& memory, const Observation& observation);

// Says where an observation came from: its place in a batch's reply, taken once, and the events it is about.
Status attribute(Db& db, ObservationId id, const std::string& batch_id, std::int64_t position,
                 const std::vector<std::int64_t>& events);

// The newest of a project, newest first, without their long texts.
Result<std::vector<Observation>> newest_observations(Db& db, const std::string& project,
                                                     std::optional<WallTime> after, std::size_t limit);
Result<std::optional<Observation>> find_observation(Db& db, std::int64_t id);

}  // namespace cairn::store
