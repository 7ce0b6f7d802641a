// Keeps every transcript: copies what hooks asked for and what a sweep of the known directories finds,
// between the daemon's other work.
//
// A copy that fails is tried again after a minute, then after longer and longer waits. `status` names it
// until it succeeds.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "archive/copy.h"
#include "archive/retention.h"
#include "base/log.h"
#include "base/result.h"
#include "gate/gate.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/archive.h"
#include "store/sql.h"

namespace cairn::archive {

// Belongs to the writer's thread.
class Archiver {
 public:
  struct Options {
    bool enabled = true;
    Copy::Options copy;
    Keep keep;
  };

  // `home`: the data directory.
  Archiver(store::Db& db, os::Disk& disk, os::Clock& clock, Log& log, const std::string& home)
      : db_(db), disk_(disk), clock_(clock), log_(log), places_{home + "/archive"} {}

  void configure(gate::Gate gate, const Options& options);

  // Call once a minute: makes sweep_step() look for removals again, and every ten minutes for changed
  // transcripts and expired backups. step() looks for requests by itself.
  Status look_again();

  // Continues a copy that a hook asked for. False: none is due. An error of the store is logged, and the next
  // try is a minute later.
  bool step();
  // Continues the sweep, retention and removals. False: nothing to do.
  bool sweep_step();

  // Copies a session's transcript now, before anything else, up to its last complete line. Gives the newest
  // backup of the session; nothing when it has none, because a rule keeps it out or there is no transcript.
  Result<std::optional<store::Backup>> copy_now(const store::TranscriptKey& key, const std::string& path,
                                                const std::string& project, store::BackupCause cause);

  // Whether a copy is under way: its base must not be changed.
  bool is_copying() const { return requested_.copy || swept_.copy; }

  // The number of copies since this object was made.
  std::int64_t copied() const { return copied_; }

 private:
  struct Work {
    std::optional<store::BackupRequest> request;  // none: the copy belongs to the sweep
    std::deque<Copy::Job> jobs;
    std::unique_ptr<Copy> copy;
  };

  template <class Body>
  bool guarded(Body&& body);
  Result<bool> begin_request();
  Result<bool> go_on_sweeping();
  // Does the next piece of the copy. True: there is more.
  Result<bool> go_on(Work& work);
  Status finish_copy(Work& work);
  Status finish(const store::BackupRequest& request);
  Status fail(Work& work, const Error& error);
  Result<std::deque<Copy::Job>> jobs_of(const store::BackupRequest& request);
  Status sweep_folder(const std::string& folder, const std::string& platform);
  Result<bool> is_due(const std::string& path);
  // Whether a rule excludes the session, or it belongs to cairn's own agent.
  Result<bool> is_left_out(const Copy::Job& job);
  std::string first_directory(const std::string& path, const host::Host& host, WallTime& began);

  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
  Log& log_;
  Places places_;
  gate::Gate gate_{gate::Rules{}};
  Options options_;
  Work requested_, swept_;
  bool removals_due_ = true, retention_due_ = false;
  std::int64_t not_before_ns_ = 0;                           // boot time
  std::int64_t last_sweep_ns_ = 0;                           // boot time; 0: never
  std::deque<std::pair<std::string, std::string>> folders_;  // still to be swept, with their platforms
  std::int64_t copied_ = 0;
};

}  // namespace cairn::archive
