// Makes tool calls searchable, a few in each step: the input of a tool, and the beginning and the end of its
// output. Calls of cairn itself are left out, so that cairn does not learn from its own output. Also merges
// the search indexes after a turn became private: until then they have words of what was deleted.
#pragma once

#include <cstdint>

#include "base/log.h"
#include "base/result.h"
#include "os/clock.h"
#include "store/sql.h"

namespace cairn::recall {

// Belongs to the writer's thread.
class EventIndexer {
 public:
  EventIndexer(store::Db& db, os::Clock& clock, Log& log) : db_(db), clock_(clock), log_(log) {}

  // Indexes the next calls, the newest first, in one short transaction. False: nothing is to be done. An
  // error of the store is logged, and the next try is a minute later.
  bool step();

 private:
  Result<bool> merge_some();
  Result<bool> index_some();

  store::Db& db_;
  os::Clock& clock_;
  Log& log_;
  std::int64_t not_before_ns_ = 0;  // boot time
};

// Indexes one event, or marks it as having nothing to find. In the caller's transaction.
Status index_call(store::Db& db, std::int64_t seq);

}  // namespace cairn::recall
