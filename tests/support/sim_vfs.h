// Lets SQLite use an os::Disk: a VFS with its own name, for tests on a SimDisk.
//
// It has no shared memory, so a WAL database needs Db::Options::exclusive. Directories are synced where
// SQLite's own unix VFS does it: at the first sync of a new journal or WAL, and after a delete that asks for
// it.
#pragma once

#include <memory>
#include <string>

#include "os/disk.h"

namespace cairn::test {

// Registered from construction to destruction. Outlives the connections opened with it; the disk outlives it.
// Belongs to one thread.
class SimVfs {
 public:
  explicit SimVfs(os::Disk& disk);
  ~SimVfs();
  SimVfs(const SimVfs&) = delete;
  SimVfs& operator=(const SimVfs&) = delete;

  // For Db::Options::vfs.
  const std::string& name() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace cairn::test
