// One copy of one transcript into the archive, in steps that each read a few megabytes.
//
// The original is only read. A version counts from register_backup() on and not before: until then its file
// has a temporary name or one that no row names, and the next attempt replaces it. So a death at any moment
// leaves the old versions or the old and the new one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "archive/json_fault.h"
#include "archive/redactor.h"
#include "archive/segment.h"
#include "archive/version_reader.h"
#include "base/result.h"
#include "base/sha256.h"
#include "os/disk.h"
#include "store/archive.h"
#include "store/sql.h"

namespace cairn::archive {

// A longer line is left out; a marker stands in its place.
inline constexpr std::size_t kMaxLine = 64u << 20;
// No host writes a longer line, or one of so many NUL bytes: the file is sparse, or it is not a transcript.
// The rest is not copied.
inline constexpr std::uint64_t kLongestLine = 512u << 20;
// What a step reads.
inline constexpr std::size_t kStepBytes = 1u << 20;

// The name of the file that is being written.
inline constexpr std::string_view kTemporary = "copy.zst";

// Where the files of the archive are.
struct Places {
  std::string directory;  // CAIRN_HOME/archive
  std::string temporary() const { return directory + "/tmp"; }
};

// Belongs to the writer's thread. What it is given outlives it.
class Copy {
 public:
  struct Job {
    store::TranscriptKey key;
    std::string path;
    std::string project;
    std::string cause, reason;
    bool always = false;  // a version even when nothing was added since the last one
  };
  struct Options {
    bool redact = true;
    int level = 3;
  };

  // Opens the transcript. Fails with `not_found` when there is none.
  static Result<std::unique_ptr<Copy>> open(store::Db& db, os::Disk& disk, const Places& places,
                                            const gate::Gate& gate, Job job, const Options& options);

  // Goes on. False: all was copied, read back and verified, and register_backup() may be called.
  Result<bool> step();

  // Makes it a backup, in the caller's transaction. Nothing when there is nothing new to keep.
  Result<std::optional<store::Backup>> register_backup(WallTime now);

  const Job& job() const { return job_; }
  // What was found damaged of earlier versions: the copy starts over with all of the transcript.
  const std::string& damage() const { return damage_; }

 private:
  enum class Phase { prefix, lines, verify, done };

  Copy(store::Db& db, os::Disk& disk, const Places& places, const gate::Gate& gate, Job job,
       const Options& options);
  Status begin();
  Status start_base();
  Status start_lines();
  Result<bool> step_prefix();
  Result<bool> step_lines();
  Result<bool> step_verify();
  Status take_line(std::string_view line);
  Status skip_line();
  Status end_lines();
  Result<bool> check_frame(const FrameText& frame);
  Json about() const;

  store::Db& db_;
  os::Disk& disk_;
  Places places_;
  const gate::Gate& gate_;
  const host::Host& host_;
  Job job_;
  Options options_;
  os::Stat stat_;
  std::unique_ptr<os::File> source_;
  std::uint64_t limit_ = 0;  // the size when it was opened: what is added later is for the next copy

  Phase phase_ = Phase::prefix;
  std::optional<store::Backup> last_;  // the version that this one continues
  store::BackupBase base_;
  std::int64_t next_ordinal_ = 1;  // of a new base
  std::uint64_t at_ = 0;           // read so far
  Sha256 source_hash_;             // of the source up to the last line end
  std::string buffer_;             // behind that
  std::size_t looked_ = 0;         // so much of it has no line feed
  std::uint64_t skipped_ = 0;      // bytes of a line that is too long
  Sha256 skipping_hash_;
  std::optional<Redactor> redactor_;
  std::optional<SegmentWriter> writer_;
  std::optional<store::BackupSegment> segment_;
  store::Backup backup_;

  std::optional<VersionReader> reader_;
  Sha256 stored_hash_, new_hash_;
  std::int64_t read_back_ = 0;  // bytes
  std::string damage_;
};

}  // namespace cairn::archive
