// Which project a place is: also after its directory became a repository, and after the repository was moved,
// renamed or cloned again.
//
// The first session in a place that is not known decides. What is certain (the directory became a repository;
// the one other repository with this first commit is gone from its old path) moves the project's row to the
// new place, so that everything remembered stays under it. What is not certain is suggested. First commits
// and remotes are read in the background, a piece at a time (Lineage).
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

// The project that a read in this place is about; nothing when it is not known. Changes nothing. In a
// repository that is not known it reads at most 100 ms of history.
Result<std::optional<store::Project>> find_project_at(store::Db& db, os::Disk& disk, os::Clock& clock,
                                                      const store::Place& place);

// The name of the project of a session that begins in this place. A project that is found again in another
// place follows; a new one is added, and what it looks like is suggested. Within the caller's transaction.
Result<std::string> project_at(store::Db& db, os::Disk& disk, os::Clock& clock, const store::Place& place);

// Looks at the repositories of projects that were worked in: whether a directory became one, its first
// commit, its remote. Belongs to the writer's thread.
class Lineage {
 public:
  Lineage(store::Db& db, os::Disk& disk, os::Clock& clock, Log& log)
      : db_(db), disk_(disk), clock_(clock), log_(log) {}
  ~Lineage();

  // Remotes pass this gate before they are stored.
  void configure(const gate::Gate& gate) { gate_ = &gate; }

  // Does a piece of work of at most about 20 ms. False: there is none.
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
  std::int64_t project_ = 0;  // the one that is being looked at
  store::Place place_;
  std::unique_ptr<git::RootSearch> search_;
};

}  // namespace cairn::intake
