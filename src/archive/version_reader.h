// Reads a version of a transcript from the archive, a frame at a time, and checks everything on the way: the
// size and hash of each file, the checksum of each frame, its bytes and lines.
//
// Damage is reported, and reading continues after it: the frames are independent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/segment.h"
#include "base/result.h"
#include "os/disk.h"
#include "store/archive.h"

namespace cairn::archive {

struct FrameText {
  std::int64_t segment = 0;     // the file's number
  std::int64_t first_line = 1;  // its number in the transcript
  std::int64_t lines = 0;
  std::string text;                  // empty when it is damaged
  std::optional<std::string> fault;  // what is wrong with the frame, or with its file
};

// Belongs to one thread. `disk` outlives it.
class VersionReader {
 public:
  // Reads the files BASE_NAME.N.zst in `directory`.
  VersionReader(os::Disk& disk, std::string directory, std::string base_name,
                std::vector<store::BackupSegment> segments);

  // False: there are no more.
  bool next(FrameText& frame);

 private:
  bool next_segment();
  std::optional<std::string> end_segment();
  std::optional<std::string> read_frame(const Frame& frame, std::string& text);

  os::Disk& disk_;
  std::string directory_, name_;
  std::vector<store::BackupSegment> segments_;
  std::size_t segment_ = 0;  // the next one
  std::unique_ptr<os::File> file_;
  std::optional<std::string> open_fault_;
  std::vector<Frame> frames_;
  std::size_t frame_ = 0;
  std::uint64_t at_ = 0;
  Sha256 hash_;
  std::int64_t line_ = 1;
  bool in_segment_ = false;
};

// The frame of a base that has the line with this number; nothing when there is no such line. When the frame
// is damaged, its `fault` says how.
Result<std::optional<FrameText>> frame_with(store::Db& db, os::Disk& disk, const std::string& directory,
                                            const store::BackupBase& base, std::int64_t line);

// A reader for a registered version.
Result<VersionReader> open_version(store::Db& db, os::Disk& disk, const std::string& directory,
                                   const store::Backup& backup);

}  // namespace cairn::archive
