// What status and the daemon share with the operations on backups.
#pragma once

#include "archive/copy.h"
#include "archive/retention.h"
#include "base/json.h"
#include "base/result.h"
#include "ops/operation.h"

namespace cairn::ops {

archive::Keep keep_of(const Settings& settings);
archive::Places archive_of(const hook::Home& home);

// The archive's part of `status`, and what is wrong with it.
Result<Json> archive_status(World& world);
Status add_archive_problems(World& world, Json& problems);

}  // namespace cairn::ops
