// SQLite's write-ahead log, before SQLite opens it: finds damage that cuts off transactions, and makes the
// log durable.
//
// SQLite silently ignores everything after the first frame with a wrong checksum. After a power cut that is
// right, because the last transaction may be half written. Before the last transaction it would lose
// committed data.
#pragma once

#include <string>

#include "base/result.h"
#include "os/disk.h"

namespace cairn::store {

// Whether a frame of the log at `path` is damaged and a transaction with frames after it ends at or after it.
// Damage in the last transaction looks like an interrupted write and is not reported, nor is a missing log. A
// power cut between several commits that no sync followed (docs/decisions/0034) can look like damage: then
// transcripts are read again for nothing. Call while no process has it open.
Result<bool> wal_is_damaged(os::Disk& disk, const std::string& path);

// Makes the log at `path` durable by writing all of it again. After a failed sync the kernel can still return
// the content, but marks it as clean, so that no later sync writes it. Without this, older frames could
// reappear after a power cut and hide pages that were checkpointed since. Call while no process writes it.
Status write_wal_again(os::Disk& disk, const std::string& path);

}  // namespace cairn::store
