// The end of what `cairn undo` could take back.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::documents {

// Removes entries that expired, and for good the documents that they kept in the trash. In the caller's
// transaction.
Status empty_trash(store::Db& db, WallTime now);

}  // namespace cairn::documents
