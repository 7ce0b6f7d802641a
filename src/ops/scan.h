// Looks for secrets in what is stored already: by rules that are newer than the store, or because something
// was taken in before there were any. Says where, never what.
#pragma once

#include <atomic>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "gate/secrets.h"
#include "hook/home.h"
#include "os/disk.h"
#include "store/sql.h"

namespace cairn::ops {

// {"findings":[{"place","column","row","kind","fingerprint","count"}],"texts":N,"bytes":N}: the rows of the
// store, the daemon's log and the files that were quarantined. Gives up with `canceled` when `stopping`
// becomes true.
Result<Json> scan(store::Db& db, os::Disk& disk, const hook::Home& home, const gate::Secrets& secrets,
                  const std::atomic<bool>* stopping = nullptr);

}  // namespace cairn::ops
