#include "archive/version_reader.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace cairn::archive {

// More than any frame that is written. The sizes come from rows and trailers, which may be damaged.
static constexpr std::uint64_t kMostFrame = 512u << 20;

VersionReader::VersionReader(os::Disk& disk, std::string directory, std::string base_name,
                             std::vector<store::BackupSegment> segments)
    : disk_(disk),
      directory_(std::move(directory)),
      name_(std::move(base_name)),
      segments_(std::move(segments)) {}

bool VersionReader::next_segment() {
  if (segment_ == segments_.size()) return false;
  const store::BackupSegment& segment = segments_[segment_++];
  in_segment_ = true;
  frame_ = 0;
  at_ = 0;
  hash_ = Sha256();
  open_fault_.reset();
  frames_ = read_frames(segment.frames).value_or(std::vector<Frame>());
  auto file = disk_.open(directory_ + "/" + store::segment_file(name_, segment.ordinal), os::Open::read_own);
  file_ = file ? *std::move(file) : nullptr;
  if (!file) open_fault_ = file.error().message;
  return true;
}

// The bytes after the frames are the trailer. They are part of the file's hash.
std::optional<std::string> VersionReader::end_segment() {
  in_segment_ = false;
  const store::BackupSegment& segment = segments_[segment_ - 1];
  if (!file_) return open_fault_;
  const auto size = file_->size();
  if (!size || *size != static_cast<std::uint64_t>(segment.file_bytes))
    return fmt::format("{} has {} bytes instead of {}", store::segment_file(name_, segment.ordinal),
                       size ? *size : 0, segment.file_bytes);
  std::string rest(std::min<std::uint64_t>(*size - std::min(*size, at_), kMostFrame), '\0');
  const auto got = file_->read_at(at_, rest.data(), rest.size());
  if (!got || *got != rest.size()) return got ? "a file ends early" : got.error().message;
  hash_.add(rest);
  if (hash_.hex() == segment.sha256) return std::nullopt;
  return fmt::format("{} is not what was written (SHA-256)", store::segment_file(name_, segment.ordinal));
}

// Reads the frame at `at`. Returns what is wrong with it.
static std::optional<std::string> read_frame_at(os::File& file, std::uint64_t at, const Frame& frame,
                                                std::string& compressed, std::string& text) {
  if (frame.file_bytes > kMostFrame || frame.bytes > kMostFrame) return "a frame is too large";
  compressed.resize(frame.file_bytes);
  const auto got = file.read_at(at, compressed.data(), compressed.size());
  compressed.resize(got ? *got : 0);
  if (!got) return got.error().message;
  if (compressed.size() != frame.file_bytes) return "a frame ends early";
  text.resize(frame.bytes);
  const std::size_t size = ZSTD_decompress(text.data(), text.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(size)) return std::string("a frame is damaged: ") + ZSTD_getErrorName(size);
  if (size != frame.bytes || std::count(text.begin(), text.end(), '\n') != frame.lines)
    return "a frame does not contain what was written";
  return std::nullopt;
}

std::optional<std::string> VersionReader::read_frame(const Frame& frame, std::string& text) {
  if (!file_) return open_fault_;
  std::string compressed;
  auto fault = read_frame_at(*file_, at_, frame, compressed, text);
  // Go on after a damaged frame: where the next one begins does not depend on its content.
  at_ += frame.file_bytes;
  hash_.add(compressed);
  return fault;
}

// The fault of a whole file comes after its frames, as one more frame that has no lines.
bool VersionReader::next(FrameText& out) {
  out = FrameText{};
  while (true) {
    if (in_segment_) out.segment = segments_[segment_ - 1].ordinal;
    if (in_segment_ && frame_ < frames_.size()) {
      const Frame frame = frames_[frame_++];
      out.first_line = line_;
      out.lines = frame.lines;
      line_ += frame.lines;
      out.fault = read_frame(frame, out.text);
      if (out.fault) out.text.clear();
      return true;
    }
    if (in_segment_) {
      out.fault = end_segment();
      out.first_line = line_;
      if (out.fault) return true;
    }
    if (!next_segment()) return false;
  }
}

Result<std::optional<FrameText>> frame_with(store::Db& db, os::Disk& disk, const std::string& directory,
                                            const store::BackupBase& base, std::int64_t line) {
  FrameText found;
  for (const store::BackupSegment& segment :
       TRY(store::segments_of(db, base.id, std::numeric_limits<std::int64_t>::max()))) {
    // The counts of lines lead to the frame, so only that one is read.
    if (line >= found.first_line + segment.lines) {
      found.first_line += segment.lines;
      continue;
    }
    std::uint64_t at = 0;
    for (const Frame& frame : read_frames(segment.frames).value_or(std::vector<Frame>())) {
      if (line < found.first_line + frame.lines) {
        found.segment = segment.ordinal;
        found.lines = frame.lines;
        auto file =
            disk.open(directory + "/" + store::segment_file(base.name, segment.ordinal), os::Open::read_own);
        std::string compressed;
        found.fault = file ? read_frame_at(**file, at, frame, compressed, found.text)
                           : std::optional(file.error().message);
        if (found.fault) found.text.clear();
        return std::optional(std::move(found));
      }
      at += frame.file_bytes;
      found.first_line += frame.lines;
    }
    break;
  }
  return std::optional<FrameText>();
}

Result<VersionReader> open_version(store::Db& db, os::Disk& disk, const std::string& directory,
                                   const store::Backup& backup) {
  const auto base = TRY(store::find_base(db, backup.base));
  if (!base) return Error{Code::corrupt, fmt::format("backup B{} has no base", backup.id)};
  auto segments = TRY(store::segments_of(db, backup.base, backup.segments));
  if (std::ssize(segments) != backup.segments)
    return Error{Code::corrupt, fmt::format("backup B{} lacks a file: `cairn backup repair`", backup.id)};
  return VersionReader(disk, directory, base->name, std::move(segments));
}

}  // namespace cairn::archive
