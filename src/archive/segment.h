// A file of the archive: zstd frames that each hold whole lines and can be read alone, then a trailer (a
// frame that zstd skips) which says whose lines they are. So the archive can be read by `zstd -d`, and
// registered again when the database is lost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/sha256.h"
#include "os/disk.h"
#include "store/archive.h"

namespace cairn::archive {

// Bytes of text after which a frame ends, at the next line end.
inline constexpr std::size_t kFrameBytes = 1u << 20;

struct Frame {
  std::uint64_t file_bytes = 0;  // compressed
  std::uint64_t bytes = 0;
  std::int64_t lines = 0;
};
std::string frames_text(const std::vector<Frame>& frames);
// Parses the text of frames_text(); nothing for any other text.
std::optional<std::vector<Frame>> read_frames(std::string_view text);

// Writes one file under a temporary name. Removed by its destructor unless it was moved into place.
class SegmentWriter {
 public:
  // Writes to `path`, replacing a file that is there. `level`: the zstd level.
  static Result<SegmentWriter> create(os::Disk& disk, std::string path, int level);
  SegmentWriter(SegmentWriter&& other) noexcept;
  SegmentWriter& operator=(SegmentWriter&&) = delete;
  ~SegmentWriter();

  // Adds a line, given without its line feed.
  Status add_line(std::string_view line);

  // Ends the file with a trailer made of `about`, and makes it durable under its temporary name.
  Result<store::BackupSegment> seal(std::int64_t ordinal, Json about);

  // Lines and bytes so far, and the hash of their text.
  std::int64_t lines() const { return lines_; }
  std::uint64_t bytes() const { return bytes_; }
  std::string sha256() const { return text_hash_.hex(); }
  const std::string& path() const { return path_; }
  // Renames the sealed file to `path` and makes the name durable. If the rename fails, the destructor still
  // removes the file.
  Status move_to(const std::string& path);

 private:
  SegmentWriter(os::Disk& disk, std::string path, std::unique_ptr<os::File> file, int level);
  Status end_frame();
  Status write(std::string_view bytes);

  os::Disk* disk_;
  std::string path_;  // empty: nothing to remove
  std::unique_ptr<os::File> file_;
  int level_;
  std::string buffer_;
  std::int64_t buffered_lines_ = 0;
  std::vector<Frame> frames_;
  std::uint64_t written_ = 0, bytes_ = 0;
  std::int64_t lines_ = 0;
  Sha256 file_hash_, text_hash_;
};

// The trailer of a file; `corrupt` when it has none.
Result<Json> read_trailer(os::Disk& disk, const std::string& path);

}  // namespace cairn::archive
