// Observations: one learned thing each, with the events it came from. Keyed by the memory id of their
// session.
//
// They come in batches: what a turn, or a provider's reply, says at once. A batch that is told again replaces
// what it said before, and what it says again keeps its id. What two batches of a session say alike is one
// row with the evidence of both; across sessions equal rows stay apart and are linked by same_as.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/origin.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sessions.h"
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
  std::optional<std::int64_t> same_as;   // the earliest equal one of another session of the project
  std::optional<std::int64_t> position;  // its place in its batch; a batch has one at each
  std::vector<std::int64_t> events;      // its evidence: events.seq
  std::int64_t tokens = 0;               // what showing it in full costs, roughly
  Origins origins;                       // of the events that it came from: web, mcp
  WallTime created_at;
};

// Stores one that belongs to no batch: what somebody said by hand.
Result<ObservationId> add_observation(Db& db, const MemoryId& memory, const Observation& observation);

// Makes `list` what the batch says, in the caller's transaction. A row keeps its id when its content stays,
// or when the observation at its position only changed its words. An empty list takes back all it said. Each
// observation must have a position of its own.
Status put_observations(Db& db, const MemoryId& memory, const std::string& batch,
                        const std::vector<Observation>& list);

// The batch that the built-in distiller's observations of a turn are.
std::string turn_batch(const Session& session, std::int64_t prompt_number);
// Whether other batches tell of every one of these events.
Result<bool> is_told_otherwise(Db& db, const std::string& batch, const std::vector<std::int64_t>& events);
// Takes back what the batch says of nothing but events that `list` or other batches tell of.
Status give_way(Db& db, const std::string& batch, const std::vector<Observation>& list);

// The newest of a project, newest first, without their files and concepts; not those of `except_session`.
struct ObservationQuery {
  std::string project;
  std::optional<WallTime> after;
  std::string except_session;
  std::size_t limit = 20;
};
Result<std::vector<Observation>> newest_observations(Db& db, const ObservationQuery& query);
// Whether an observation that is not deleted has that type.
Result<bool> is_type_in_use(Db& db, const std::string& type);
// One, with its evidence.
Result<std::optional<Observation>> find_observation(Db& db, std::int64_t id);

}  // namespace cairn::store
