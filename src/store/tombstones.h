// What was forgotten, as keyed hashes (gate/forgotten.h), and the progress of each forget.
//
// Functions that write run in the caller's transaction, on the writer's connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

struct TombstoneRow {
  TombstoneKind kind = TombstoneKind::text;
  std::uint64_t hash = 0;
  std::uint16_t start = 0;
  std::uint32_t length = 0;
  std::string key = {};  // of the home that made it; empty: this home's
};

// `lasting`: false for one that is needed only until the forget is done.
Status add_tombstone(Db& db, const TombstoneRow& row, std::int64_t forget, bool lasting, WallTime now);
Result<std::vector<TombstoneRow>> tombstones(Db& db);
// Without those that are needed only until their forget is done; the oldest first.
Result<std::vector<TombstoneRow>> lasting_tombstones(Db& db);
Result<bool> has_tombstone(Db& db, const TombstoneRow& row);
// The keys of other homes whose tombstones were taken over.
Result<std::vector<std::string>> tombstone_keys(Db& db);
// Those of one forget.
Result<std::vector<TombstoneRow>> tombstones_of(Db& db, std::int64_t forget);
// Removes tombstones: the texts they block may be stored again. Returns how many there were.
Result<std::int64_t> lift_tombstones(Db& db, const std::vector<TombstoneRow>& rows);
// Removes those that were needed only until this forget was done. Returns how many there were.
Result<std::int64_t> drop_temporary_tombstones(Db& db, std::int64_t forget);

// A forget. `report`: JSON.
struct Forget {
  std::int64_t id = 0;
  ForgetWay way = ForgetWay::ids;
  ForgetPhase phase = ForgetPhase::report;
  std::string position;
  std::string report;
  WallTime started_at;
  std::optional<WallTime> ended_at;
};
Result<std::int64_t> add_forget(Db& db, ForgetWay way, WallTime now);
// The oldest one that is not done.
Result<std::optional<Forget>> pending_forget(Db& db);
Result<std::optional<Forget>> find_forget(Db& db, std::int64_t id);
// Writes phase, position, report and the end.
Status put_forget(Db& db, const Forget& forget);
Status add_target(Db& db, std::int64_t forget, std::string_view target);
// The first targets whose text begins with `start`.
Result<std::vector<std::string>> targets(Db& db, std::int64_t forget, std::string_view start,
                                         std::size_t limit);
Status end_target(Db& db, std::int64_t forget, std::string_view target);

}  // namespace cairn::store
