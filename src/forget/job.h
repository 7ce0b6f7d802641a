// Does a forget, a piece a step, in the daemon: deletes rows, removes texts from all others, rewrites frames
// of the archive, cleans files, merges the index, empties the WAL, and then proves that nothing is left.
//
// Every step writes for at most some milliseconds and notes how far it is, so that events are stored in
// between and a forget that was interrupted by a crash goes on at the next start. The report has counts,
// never a text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "archive/rewriter.h"
#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "forget/select.h"
#include "gate/forgotten.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/scrub.h"
#include "store/sql.h"
#include "store/tombstones.h"

namespace cairn::forget {

// Writes the selection as a forget that is to be done, with its tombstones and an entry of the audit log, in
// the caller's transaction. Returns its number.
Result<std::int64_t> begin(store::Db& db, const std::string& key, const Selection& selection,
                           const std::vector<std::string>& fingerprints, WallTime now);

// Belongs to the writer's thread. What it is given must outlive it.
class Job {
 public:
  // `home`: the data directory.
  Job(store::Db& db, os::Disk& disk, os::Clock& clock, Log& log, std::string home, std::string key)
      : db_(db), disk_(disk), clock_(clock), log_(log), home_(std::move(home)), key_(std::move(key)) {}

  // Does a piece of the oldest forget that is not done. False: there is nothing to do now.
  Result<bool> step();
  // Call when there may be a new one.
  void look_again() { due_ = true; }
  // Whether tombstones changed since the last call: the gate must be made again.
  bool take_changed() { return std::exchange(changed_, false); }

 private:
  Result<bool> work();
  Status load(const store::Forget& forget);
  Result<bool> rows();
  Status keep_out(const std::string& uuid);
  Result<bool> scrub(bool only_look);
  Result<bool> archive(bool only_look);
  Result<bool> begin_base(bool only_look);
  Result<bool> end_base();
  Status index_passages(std::int64_t base, const std::set<std::int64_t>& lines);
  Result<bool> read_frames();
  Result<bool> files();
  Result<bool> index();
  Result<bool> wal();
  Result<bool> prove_files();
  Status finish();
  Status to_phase(store::ForgetPhase phase);
  Status save(const std::function<Status()>& also = nullptr);
  Status report_error(const std::string& message);
  void count(std::string_view what, std::int64_t more);
  std::optional<store::Changed> change(std::string_view text) const;
  bool is_gone(std::string_view text) const;
  std::function<bool()> time_is_up() const;

  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
  Log& log_;
  std::string home_, key_;
  bool due_ = true, changed_ = false;
  std::int64_t not_before_ns_ = 0;

  // The forget at work.
  std::optional<store::Forget> forget_;
  gate::Forgotten forgotten_{""};
  std::vector<std::string> markers_;  // how the markers of the forgotten secrets end: ":1a2b3c4d]"
  std::set<std::string, std::less<>> calls_;
  Json report_;
  std::unique_ptr<archive::Rewriter> rewriter_;
  std::optional<archive::VersionReader> reader_;
  std::int64_t reader_base_ = 0;
  std::vector<std::string> unproved_;  // files that the proof has still to read
  std::uint64_t at_ = 0;               // in the first of them
  int merges_ = 0, wal_waits_ = 0;
};

}  // namespace cairn::forget
