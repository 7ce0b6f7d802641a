#include "forget/stones.h"

#include <array>

#include "base/hash.h"

namespace cairn::forget {

// In the order of gate::Tombstone::Kind.
static constexpr std::array<std::string_view, 5> kKinds = {"text", "whole", "secret", "session", "record"};

std::string tombstone_key(std::string_view home_key) {
  return keyed_hash(home_key, "tombstones");
}

store::TombstoneRow row_of(const gate::Tombstone& stone) {
  return {std::string(kKinds[static_cast<std::size_t>(stone.kind)]), stone.hash, stone.start, stone.length,
          stone.key};
}

gate::Tombstone stone_of(const store::TombstoneRow& row) {
  gate::Tombstone stone{gate::Tombstone::Kind::text, row.hash, row.start, row.length, row.key};
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (kKinds[i] == row.kind) stone.kind = static_cast<gate::Tombstone::Kind>(i);
  return stone;
}

Result<std::shared_ptr<const gate::Forgotten>> load_forgotten(store::Db& db, const std::string& key) {
  const auto rows = TRY(store::tombstones(db));
  if (rows.empty()) return std::shared_ptr<const gate::Forgotten>();
  auto forgotten = std::make_shared<gate::Forgotten>(tombstone_key(key));
  for (const store::TombstoneRow& row : rows) forgotten->add(stone_of(row));
  return std::shared_ptr<const gate::Forgotten>(std::move(forgotten));
}

Result<gate::Forgotten> load_forgotten(store::Db& db, const std::string& key, std::int64_t forget) {
  gate::Forgotten forgotten(tombstone_key(key));
  for (const store::TombstoneRow& row : TRY(store::tombstones_of(db, forget))) forgotten.add(stone_of(row));
  return forgotten;
}

}  // namespace cairn::forget
