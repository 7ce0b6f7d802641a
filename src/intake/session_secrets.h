// The secrets that occurred earlier in each session, for the gate. Read from the store when a session is
// first seen; includes those of events that are not stored yet.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gate/gate.h"
#include "store/sql.h"

namespace cairn::intake {

// Belongs to the writer's thread.
class SessionSecrets {
 public:
  explicit SessionSecrets(store::Db& db) : db_(db) {}

  // The secrets of the session with the host's id `session`. Valid until the next call.
  Result<const gate::KnownSecrets*> of(std::string_view session);
  // Adds what an event had; for a session that of() returned.
  void add(std::string_view session, const std::vector<gate::KnownSecret>& learned);

  // What was added is in the store: a large cache may be emptied. Not before, because of() would then miss
  // the secrets of events that are in memory alone.
  void all_stored();
  // What was added may not be in the store: a transaction was rolled back. The secrets of its events would
  // count as known when the events are read again, and would never be stored.
  void clear() { sessions_.clear(); }

 private:
  store::Db& db_;
  std::unordered_map<std::string, gate::KnownSecrets> sessions_;
};

}  // namespace cairn::intake
