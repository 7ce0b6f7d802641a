// The records of a project before and after a given record, in the order of time.
#pragma once

#include <vector>

#include "base/result.h"
#include "recall/record.h"
#include "store/sql.h"

namespace cairn::recall {

// `anchor` with up to `before` older and `after` newer records, oldest first. At equal times a prompt comes
// before its observations, and these before its summary. Uses only index look-ups: the size of the store does
// not matter.
Result<std::vector<Record>> around(store::Db& db, const Record& anchor, std::size_t before,
                                   std::size_t after);

}  // namespace cairn::recall
