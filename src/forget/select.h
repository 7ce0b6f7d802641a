// Decides what a forget removes: records, the events they came from, sessions, and the texts that must not
// come back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "gate/forgotten.h"
#include "store/forget_rows.h"
#include "store/sql.h"
#include "store/standing.h"
#include "store/states.h"

namespace cairn::forget {

// What the user asked for: one of these members. `project` also limits `query`, `file` and `before`.
struct Request {
  std::vector<store::RecordName> records;
  std::optional<std::string> query, file, secret;
  std::optional<WallTime> before;
  std::optional<SessionId> session;
  std::optional<std::string> project;
  bool whole_project = false;
  std::vector<std::string> secrets;  // found by a scan
};

struct Selection {
  store::ForgetWay way = store::ForgetWay::ids;
  std::vector<store::RecordName> records;
  std::vector<store::GoneEvent> events;
  std::vector<SessionId> sessions;
  std::optional<std::string> project;  // to be deleted when nothing is left of it
  std::vector<gate::Tombstone> lasting;
  std::vector<gate::Tombstone> temporary;  // for this forget only
  std::int64_t common = 0;                 // texts that other records have as well and that may come back
  bool own_word = false;  // what was searched for is a word of cairn's own: it stays elsewhere
};

// Reads; changes nothing. Fails with `not_found` when there is nothing of that kind.
Result<Selection> select(store::Db& db, const std::string& key, const Request& request);

// What these tombstones name: they came with an export, or a copy was restored that is older than they are.
// Their texts are removed wherever they are, records and sessions that they name go.
Result<Selection> select_named(store::Db& db, const std::string& key, store::ForgetWay way,
                               std::vector<gate::Tombstone> tombstones);

}  // namespace cairn::forget
