// One copy of one transcript into the archive, in steps that each read a few megabytes.
//
// The transcript is only read. A version exists once register_backup() is committed. Until then its file has
// a temporary name, or a name that no row has, and the next attempt replaces it. So a crash at any moment
// leaves the old versions, with or without the new one.
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

// A longer line is replaced by a marker.
inline constexpr std::size_t kMaxLine = 64u << 20;
// No host writes a longer line: the file is sparse, or it is not a transcript. The rest is not copied. The
// same holds for a line over kMaxLine whose next bytes are all NUL.
inline constexpr std::uint64_t kLongestLine = 512u << 20;
// The bytes of a transcript that one step reads; steps that read the archive again read four times as many.
inline constexpr std::size_t kStepBytes = 1u << 20;

// The name of the file that is being written.
inline constexpr std::string_view kTemporary = "copy.zst";

// Where the files of the archive are.
struct Places {
  std::string directory;  // CAIRN_HOME/archive
  std::string temporary() const { return directory + "/tmp"; }
};

// Belongs to the writer's thread. The references that it is given must outlive it.
class Copy {
 public:
  struct Job {
    store::TranscriptKey key;
    std::string path;
    std::string project;
    store::BackupCause cause = store::BackupCause::sweep;
    std::string reason;
    bool even_if_unchanged = false;  // makes a version even when nothing was added since the last one
  };
  struct Options {
    bool redact = true;
    int level = 3;
  };

  // Opens the transcript. Fails with `not_found` when there is none.
  static Result<std::unique_ptr<Copy>> open(store::Db& db, os::Disk& disk, const Places& places,
                                            const gate::Gate& gate, Job job, const Options& options);

  // Does the next piece. False: all was copied, read back and verified; now call register_backup().
  Result<bool> step();

  // Registers the copy as a backup, in the caller's transaction. Returns nothing when the transcript has
  // nothing new.
  Result<std::optional<store::Backup>> register_backup(WallTime now);

  const Job& job() const { return job_; }
  // The damage that was found in earlier versions; empty: none. When there is some, the whole transcript is
  // copied again.
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
  std::uint64_t limit_ = 0;  // the file's size when it was opened; later lines belong to the next copy

  Phase phase_ = Phase::prefix;
  std::optional<store::Backup> last_;  // the version that this one continues
  store::BackupBase base_;
  std::int64_t next_ordinal_ = 1;  // for a new base
  std::uint64_t at_ = 0;           // bytes read so far
  Sha256 source_hash_;             // of the source up to the last line end
  std::string buffer_;             // bytes after that line end
  std::size_t looked_ = 0;         // the first `looked_` bytes of buffer_ have no line feed
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
