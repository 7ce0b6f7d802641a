// Recognises a project again: after its directory became a repository, and after the repository was moved,
// renamed or cloned again.
//
// The first session in an unknown place decides. In certain cases (the directory became a repository; the
// only other repository with this first commit is gone from its old path) the project's row moves to the new
// place with everything remembered. Uncertain cases are suggested to the user. First commits and remotes are
// read in the background, in small steps (RepositoryReader).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "gate/gate.h"
#include "git/history.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/projects.h"
#include "store/sql.h"

namespace cairn::intake {

// The project of this place, for a read; nothing when it is unknown. Changes nothing. Reads the history of an
// unknown repository for at most 100 ms.
Result<std::optional<store::Project>> find_project_at(store::Db& db, os::Disk& disk, os::Clock& clock,
                                                      const store::Place& place);

// The name of the project of a session that begins in this place. A moved project gets its new place; a new
// one is added, and similar projects are suggested. Runs in the caller's transaction.
Result<std::string> project_at(store::Db& db, os::Disk& disk, os::Clock& clock, const store::Place& place);

// Reads the repositories of projects with new work: whether the directory became one, its first commit, its
// remote. Belongs to the writer's thread.
class RepositoryReader {
 public:
  RepositoryReader(store::Db& db, os::Disk& disk, os::Clock& clock, Log& log)
      : db_(db), disk_(disk), clock_(clock), log_(log) {}
  ~RepositoryReader();

  // Remotes pass this gate before they are stored.
  void configure(const gate::Gate& gate) { gate_ = &gate; }

  // Works for at most about 20 ms. False: nothing to do.
  Result<bool> step();

 private:
  Status begin(const store::Project& project);
  Status note_repository(const store::Project& project, const store::Place& place);
  Status finish();

  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
  Log& log_;
  const gate::Gate* gate_ = nullptr;
  std::int64_t project_ = 0;  // the project being read
  store::Place place_;
  std::unique_ptr<git::RootSearch> search_;
};

}  // namespace cairn::intake
