// Writes the files of a base again, with changed lines, to remove forgotten text.
//
// The number of lines stays, so that anchors stay valid. The new files get another name; until they are
// registered, the old ones are the backup. A crash in between leaves files that the next attempt replaces.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "archive/copy.h"
#include "archive/segment.h"
#include "archive/version_reader.h"
#include "base/result.h"
#include "os/disk.h"
#include "store/archive.h"

namespace cairn::archive {

// Belongs to the writer's thread. What it is given must outlive it.
class Rewriter {
 public:
  // The changed line, without a line feed; false: it stays.
  using Change = std::function<bool(std::string_view line, std::string& out)>;

  // `mark` is part of the new names, so that a second rewrite gets other names.
  static Result<std::unique_ptr<Rewriter>> open(store::Db& db, os::Disk& disk, const Places& places,
                                                store::BackupBase base, const std::string& mark, int level,
                                                Change change);

  // Does the next frame. False: all is written; now call commit() if changed() is not zero.
  Result<bool> step();
  std::int64_t changed() const { return static_cast<std::int64_t>(lines_.size()); }
  const std::set<std::int64_t>& changed_lines() const { return lines_; }
  const store::BackupBase& base() const { return base_; }
  // Why a frame could not be read; empty: all could. With a fault the base must not be replaced.
  const std::string& fault() const { return fault_; }

  // Puts the new files in place of the old ones and computes every version again, in the caller's
  // transaction. The old files are unlinked later (store::removals).
  Status commit();
  // Removes what was written.
  void discard();

 private:
  Rewriter(store::Db& db, os::Disk& disk, const Places& places, store::BackupBase base, int level,
           Change change)
      : db_(db),
        disk_(disk),
        places_(places),
        base_(std::move(base)),
        level_(level),
        change_(std::move(change)) {}
  Status begin_segment(std::int64_t ordinal);
  Status end_segment();

  store::Db& db_;
  os::Disk& disk_;
  Places places_;
  store::BackupBase base_;
  int level_;
  Change change_;
  std::string name_;  // of the new files
  std::vector<store::BackupSegment> old_;
  std::optional<VersionReader> reader_;
  std::optional<SegmentWriter> writer_;
  std::int64_t ordinal_ = 0;
  Sha256 text_hash_;        // of all lines so far
  std::int64_t bytes_ = 0;  // of all lines so far
  struct Written {
    store::BackupSegment segment;
    std::string sha256;  // of the text up to its end
    std::int64_t bytes = 0;
  };
  std::vector<Written> written_;
  std::set<std::int64_t> lines_;
  std::string fault_;
};

}  // namespace cairn::archive
