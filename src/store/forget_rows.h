// Deletes what a forget is about: records with the events they came from, and whole sessions in pieces.
//
// All within the caller's transaction, on the writer's connection.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"
#include "store/standing.h"

namespace cairn::store {

// The observations that are equal to one (its project's, shown as one), itself included.
Result<std::vector<RecordName>> equal_records(Db& db, const RecordName& record);

// The events that are forgotten together with a record: for an observation those that no other observation
// names, for a prompt and an open item their own, for a summary those of its turn that no observation names.
struct GoneEvent {
  std::int64_t seq = 0;
  std::string tool_use_id;
};
Result<std::vector<GoneEvent>> events_to_forget(Db& db, const RecordName& record,
                                                const std::vector<RecordName>& going);

// Deletes the record's row with all rows that refer to it. A prompt keeps its row, without its text.
Status delete_record(Db& db, const RecordName& record);
// Turns an event into one that is only counted, and deletes what was learned from it alone. Returns the uuids
// of that.
Result<std::vector<std::string>> delete_event(Db& db, std::int64_t seq);

// Deletes a piece of a session: true while there is more. At the end the session, its backups and its
// documents are gone.
Result<bool> delete_session_piece(Db& db, SessionId session, std::int64_t limit);

// Which sessions a forget is about.
struct SessionScope {
  std::optional<std::string> project;  // exactly this one, without those linked with it
  std::optional<WallTime> before;      // whose last event was earlier
  bool by_hand = false;                // also the hidden sessions, with what was stored by hand
};
Result<std::vector<SessionId>> sessions_in(Db& db, const SessionScope& scope);
// Records by hand (notes, open items, documents) that are older than `before`, or all of the project.
Result<std::vector<RecordName>> hand_records_in(Db& db, const SessionScope& scope);
// Observations about a file: by its path or the end of it.
Result<std::vector<RecordName>> records_about_file(Db& db, const std::optional<std::string>& project,
                                                   const std::string& path);
// Every record that has a uuid, hidden ones included.
Status for_each_uuid(Db& db,
                     const std::function<void(const RecordName& record, std::string_view uuid)>& visit);
// Every session, by the host's name and id.
Status for_each_session(
    Db& db,
    const std::function<void(SessionId session, std::string_view platform, std::string_view id)>& visit);
// Deletes what is left of a project that has no rows any more. False: it still has some.
Result<bool> delete_empty_project(Db& db, const std::string& project);
// Deletes what is stored about records that do not exist any more.
Status drop_orphans(Db& db);

}  // namespace cairn::store
