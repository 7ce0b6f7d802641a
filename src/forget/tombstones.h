// Tombstones between the store, which keeps them, and the gate, which acts on them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "gate/forgotten.h"
#include "store/sql.h"
#include "store/tombstones.h"

namespace cairn::forget {

// The key of this home's tombstones. Exports contain it, so it must not be the home's key itself: that one
// also protects the audit log, the fence around injected text and the marks of secrets.
std::string tombstone_key(std::string_view home_key);

// All that was forgotten, for the gate; null when nothing was. `key`: the home's.
Result<std::shared_ptr<const gate::Forgotten>> load_forgotten(store::Db& db, const std::string& key);
// What one forget is about.
Result<gate::Forgotten> load_forgotten(store::Db& db, const std::string& key, std::int64_t forget);

store::TombstoneRow row_of(const gate::Tombstone& tombstone);
gate::Tombstone tombstone_of(const store::TombstoneRow& row);

}  // namespace cairn::forget
