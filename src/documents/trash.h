// Deletes undo entries that have expired, with the deleted documents that they could bring back.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::documents {

// A document that was taken out of the trash meanwhile stays. Runs in the caller's transaction.
Status empty_trash(store::Db& db, WallTime now);

}  // namespace cairn::documents
