// What happened around a record: the records of its project before and after it, in the order of time.
#pragma once

#include <vector>

#include "base/result.h"
#include "recall/record.h"
#include "store/sql.h"

namespace cairn::recall {

// `anchor` with up to `before` records that are older and `after` that are newer, oldest first. Of one moment
// a prompt stands before its observations, and these before its summary. Costs index look-ups, however much
// the store holds.
Result<std::vector<Record>> around(store::Db& db, const Record& anchor, std::size_t before,
                                   std::size_t after);

}  // namespace cairn::recall
