// Searches stored text for secrets, by rules that may be newer than the text. Reports where, never the
// secret.
#pragma once

#include <atomic>
#include <set>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "gate/secrets.h"
#include "hook/home.h"
#include "os/disk.h"
#include "store/sql.h"

namespace cairn::ops {

// Searches the store, the archive, the daemon's log and quarantined files. Returns
// {"findings":[{"place","column","row","kind","fingerprint","count"}],"texts":N,"bytes":N}. Fails with
// `canceled` when `stopping` becomes true. `found`, if given, gets the secrets themselves, to be forgotten.
Result<Json> scan(store::Db& db, os::Disk& disk, const hook::Home& home, const gate::Secrets& secrets,
                  const std::atomic<bool>* stopping = nullptr, std::set<std::string>* found = nullptr);

}  // namespace cairn::ops
