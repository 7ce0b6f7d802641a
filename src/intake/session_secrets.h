// What the gate knows of each session's secrets. Read from the store when a session is seen first; what
// events of a group bring that is not committed yet is known as well.
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

  // Those of the session that the host calls `session`. Valid until the next call.
  Result<const gate::KnownSecrets*> of(std::string_view session);
  void add(std::string_view session, const std::vector<gate::KnownSecret>& learned);

 private:
  store::Db& db_;
  std::unordered_map<std::string, gate::KnownSecrets> sessions_;
};

}  // namespace cairn::intake
