#include "forget/tombstones.h"

#include "base/hash.h"

namespace cairn::forget {

// The conversions below are casts: both lists must have the same order.
static_assert(static_cast<int>(gate::Tombstone::Kind::record) ==
              static_cast<int>(store::TombstoneKind::record));

std::string tombstone_key(std::string_view home_key) {
  return keyed_hash(home_key, "tombstones");
}

store::TombstoneRow row_of(const gate::Tombstone& tombstone) {
  return {static_cast<store::TombstoneKind>(tombstone.kind), tombstone.hash, tombstone.start,
          tombstone.length, tombstone.key};
}

gate::Tombstone tombstone_of(const store::TombstoneRow& row) {
  return {static_cast<gate::Tombstone::Kind>(row.kind), row.hash, row.start, row.length, row.key};
}

Result<std::shared_ptr<const gate::Forgotten>> load_forgotten(store::Db& db, const std::string& key) {
  const auto rows = TRY(store::tombstones(db));
  if (rows.empty()) return std::shared_ptr<const gate::Forgotten>();
  auto forgotten = std::make_shared<gate::Forgotten>(tombstone_key(key));
  for (const store::TombstoneRow& row : rows) forgotten->add(tombstone_of(row));
  return std::shared_ptr<const gate::Forgotten>(std::move(forgotten));
}

Result<gate::Forgotten> load_forgotten(store::Db& db, const std::string& key, std::int64_t forget) {
  gate::Forgotten forgotten(tombstone_key(key));
  for (const store::TombstoneRow& row : TRY(store::tombstones_of(db, forget)))
    forgotten.add(tombstone_of(row));
  return forgotten;
}

}  // namespace cairn::forget
