// The secrets that occurred earlier in each session, for the gate. Read from the store when a session is
// first seen; includes those of events that are not committed yet.
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
  void add(std::string_view session, const std::vector<gate::KnownSecret>& learned);

 private:
  store::Db& db_;
  std::unordered_map<std::string, gate::KnownSecrets> sessions_;
};

}  // namespace cairn::intake
