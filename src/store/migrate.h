// The schema's history: numbered SQL texts, each applied once, in order, and never changed afterwards.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

struct Migration {
  int version = 0;
  std::string_view name;
  std::string_view sql;
  // All tables as they are after this version, for an empty database; empty where there is no such text.
  std::string_view whole = {};
};

// Brings the database to the newest of `migrations`, which are sorted by version. Each one is a transaction
// of its own together with its row in schema_migrations: a crash leaves a version complete or absent, and the
// next call continues. An empty database gets the last `whole` text of the list instead of the migrations up
// to there: one transaction, with the rows of all of them. Changes nothing and fails with `unsupported` when
// the database has a newer version than the list, and with `corrupt` when the text of an applied migration
// has changed.
Status migrate(Db& db, std::span<const Migration> migrations, WallTime now);
// The schema version of the database; 0: none. Fails when the store was not completely created.
Result<std::int64_t> schema_version(Db& db);

}  // namespace cairn::store
