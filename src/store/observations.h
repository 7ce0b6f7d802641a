// Observations: one learned thing each, with the events it came from. Keyed by the memory id of their
// session.
// They are written in batches: all of one turn (built-in distiller) or of one provider's reply. Writing a
// batch again replaces its observations; those that did not change keep their ids. Equal observations of two
// batches of a session are one row with the evidence of both. Equal ones of different sessions stay separate
// rows, linked by same_as.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "event/origin.h"
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
  std::int64_t discovery_tokens = 0;     // about what its events took the session to read
  Origins origins;                       // of the events that it came from: web, mcp
  WallTime created_at;
};

// The whole text of an observation. A person's decision about it applies to every observation with this text.
std::string whole_text(const Observation& observation);

// The same for equal observations: a hash of type, title, narrative and facts, without case and spacing.
std::string equality_hash(const Observation& observation);
// Computes the hash of an observation again, after its fields were changed.
Status rehash_observation(Db& db, std::int64_t id);

// Stores one that belongs to no batch: what a person entered by hand.
Result<ObservationId> add_observation(Db& db, const MemoryId& memory, const Observation& observation);

// Replaces the observations of a batch by `list`, in the caller's transaction. A row keeps its id when its
// content is in `list`, or when the observation at its position only changed its wording. An empty list
// removes them all. Each observation must have a position of its own.
Status put_observations(Db& db, const MemoryId& memory, const std::string& batch,
                        const std::vector<Observation>& list);

// The name of the batch with the built-in distiller's observations of a turn.
std::string turn_batch(const Session& session, std::int64_t prompt_number);
// Whether each of these events is evidence of an observation of another batch.
Result<bool> is_covered_elsewhere(Db& db, const std::string& batch, const std::vector<std::int64_t>& events);
// Removes those observations of the batch whose events are all evidence of `list` or of other batches: a
// provider's findings replace the built-in ones about the same events.
Status drop_covered(Db& db, const std::string& batch, const std::vector<Observation>& list);

// Whether an observation that is not deleted has that type.
Result<bool> is_type_in_use(Db& db, const std::string& type);
// One, with its evidence.
Result<std::optional<Observation>> find_observation(Db& db, std::int64_t id);

// Those of a session, oldest first, without their evidence; the newest `limit` of them.
Result<std::vector<Observation>> observations_of_session(Db& db, SessionId session, std::int64_t limit);

}  // namespace cairn::store
