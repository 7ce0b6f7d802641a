// The audit log: what was forgotten, edited, rejected, exported, and which rules changed.
//
// It only grows. It has no text of records: what an entry is about is a keyed hash. Each entry has the hash
// of the one before it, so that a changed or missing one is found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

struct AuditEntry {
  std::int64_t id = 0;
  WallTime at;
  std::string what;     // forget, edit, reject, ...
  std::string actor;    // person, agent, cairn
  std::string subject;  // keyed hash
  std::string detail;   // JSON: counts and names of fields
};

// Appends an entry about `subject` ("O12", a path), which is stored as its hash with the home's `key`. In the
// caller's transaction.
Status add_audit(Db& db, const std::string& key, std::string_view what, std::string_view actor,
                 std::string_view subject, std::string_view detail, WallTime now);

// The newest entries, newest first.
Result<std::vector<AuditEntry>> audit_entries(Db& db, std::size_t limit);

struct AuditCheck {
  std::int64_t entries = 0;
  std::optional<std::int64_t> broken;  // the first entry that does not fit
  std::string why;
};
// Reads all of it and checks each hash. An entry that was removed at the end is found by the count in
// the table `meta`.
Result<AuditCheck> check_audit(Db& db, const std::string& key);

}  // namespace cairn::store
