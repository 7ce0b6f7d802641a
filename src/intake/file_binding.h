// Notes which content the files of a new observation have, to detect later whether they changed.
//
// In the background, a few files a step: neither a hook nor the distiller waits for it.
#pragma once

#include "base/result.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/sql.h"

namespace cairn::intake {

// Belongs to the writer's thread.
class FileBinding {
 public:
  FileBinding(store::Db& db, os::Disk& disk, os::Clock& clock) : db_(db), disk_(disk), clock_(clock) {}

  // False: there is nothing to do.
  Result<bool> step();

 private:
  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
};

}  // namespace cairn::intake
