// Builds the search index again from the records, in steps, beside the one that is in use.
//
// While it is built, searches read the old index. Triggers repeat changes of records that were already read
// in the new one, so that it is equal to one made from nothing when it replaces the old one, in one
// transaction. Its progress is stored: after a crash the next daemon goes on. Tool calls and transcripts are
// indexed again afterwards by their own indexers.
//
// Functions run in the caller's transaction, on the writer's connection.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/sql.h"

namespace cairn::store {

// Starts a rebuild. False: one is under way.
Result<bool> begin_reindex(Db& db);
// Indexes the next `rows` records. The step after the last record replaces the old index. False: no rebuild
// is under way.
Result<bool> reindex_step(Db& db, std::int64_t rows);

Result<bool> is_reindexing(Db& db);

struct ReindexProgress {
  bool running = false;
  std::int64_t done = 0, all = 0;  // records, by their numbers
};
Result<ReindexProgress> reindex_progress(Db& db);

}  // namespace cairn::store
