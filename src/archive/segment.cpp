#include "archive/segment.h"

#include <fmt/format.h>
#include <zstd.h>

#include <charconv>
#include <utility>

#include "base/text.h"

namespace cairn::archive {

// A file is: frame, frame, ..., trailer. The trailer is a frame that zstd skips: four bytes that mark it,
// the size of the rest, a JSON object, the size of that object, kMark. The size and the mark at the end let
// read_trailer() find the object without reading the frames. All sizes have four bytes, the lowest first.

namespace {

constexpr std::string_view kSkippable = "\x50\x2a\x4d\x18";  // the first bytes of a frame that zstd skips
constexpr std::string_view kMark = "cairn-segment-1";        // the last bytes of a file
// The size is read from a file that may be damaged: allocate no more than this for it.
constexpr std::size_t kMostTrailer = 64u << 20;

std::string little_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

Result<std::string> compress_frame(std::string_view text, int level) {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  if (!context) return Error{Code::internal, "no memory to compress"};
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  // With a checksum zstd itself notices damage when the frame is read.
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), text.data(), text.size());
  if (ZSTD_isError(size)) return Error{Code::internal, std::string("compress: ") + ZSTD_getErrorName(size)};
  frame.resize(size);
  return frame;
}

}  // namespace

std::string frames_text(const std::vector<Frame>& frames) {
  std::string text;
  for (const Frame& frame : frames)
    text += fmt::format("{}{}:{}:{}", text.empty() ? "" : " ", frame.file_bytes, frame.bytes, frame.lines);
  return text;
}

std::optional<std::vector<Frame>> read_frames(std::string_view text) {
  std::vector<Frame> frames;
  if (text.empty()) return frames;
  for (const std::string_view part : split(text, ' ')) {
    const auto numbers = split(part, ':');
    if (numbers.size() != 3) return std::nullopt;
    std::uint64_t values[3] = {};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto [end, error] =
          std::from_chars(numbers[i].data(), numbers[i].data() + numbers[i].size(), values[i]);
      if (error != std::errc() || end != numbers[i].data() + numbers[i].size()) return std::nullopt;
    }
    frames.push_back({values[0], values[1], static_cast<std::int64_t>(values[2])});
  }
  return frames;
}

SegmentWriter::SegmentWriter(os::Disk& disk, std::string path, std::unique_ptr<os::File> file, int level)
    : disk_(&disk), path_(std::move(path)), file_(std::move(file)), level_(level) {}

SegmentWriter::SegmentWriter(SegmentWriter&& other) noexcept
    : disk_(other.disk_),
      path_(std::exchange(other.path_, {})),
      file_(std::move(other.file_)),
      level_(other.level_),
      buffer_(std::move(other.buffer_)),
      buffered_lines_(other.buffered_lines_),
      frames_(std::move(other.frames_)),
      written_(other.written_),
      bytes_(other.bytes_),
      lines_(other.lines_),
      file_hash_(other.file_hash_),
      text_hash_(other.text_hash_) {}

SegmentWriter::~SegmentWriter() {
  file_.reset();
  if (!path_.empty()) ignore(disk_->remove(path_));
}

Result<SegmentWriter> SegmentWriter::create(os::Disk& disk, std::string path, int level) {
  // A file that is there was left by an interrupted copy.
  if (auto gone = disk.remove(path); !gone && gone.error().code != Code::not_found) return gone.error();
  auto file = TRY(disk.open(path, os::Open::create_new));
  return SegmentWriter(disk, std::move(path), std::move(file), level);
}

Status SegmentWriter::write(std::string_view bytes) {
  TRY(file_->write_at(written_, bytes));
  written_ += bytes.size();
  file_hash_.add(bytes);
  return {};
}

Status SegmentWriter::add_line(std::string_view line) {
  buffer_.append(line).append("\n");
  ++buffered_lines_;
  return buffer_.size() < kFrameBytes ? Status() : end_frame();
}

Status SegmentWriter::end_frame() {
  if (buffer_.empty()) return {};
  const std::string frame = TRY(compress_frame(buffer_, level_));
  TRY(write(frame));
  text_hash_.add(buffer_);
  frames_.push_back({frame.size(), buffer_.size(), buffered_lines_});
  bytes_ += buffer_.size();
  lines_ += buffered_lines_;
  buffer_.clear();
  buffered_lines_ = 0;
  return {};
}

Result<store::BackupSegment> SegmentWriter::seal(std::int64_t ordinal, Json about) {
  TRY(end_frame());
  store::BackupSegment segment;
  segment.ordinal = ordinal;
  segment.bytes = static_cast<std::int64_t>(bytes_);
  segment.lines = lines_;
  segment.frames = frames_text(frames_);
  about.set("segment", ordinal);
  about.set("segment_bytes", segment.bytes);
  about.set("segment_lines", segment.lines);
  about.set("frames", segment.frames);
  const std::string text = about.dump();
  std::string trailer(kSkippable);
  const auto size = static_cast<std::uint32_t>(text.size());
  trailer += little_endian(static_cast<std::uint32_t>(text.size() + 4 + kMark.size()));
  trailer.append(text).append(little_endian(size)).append(kMark);
  TRY(write(trailer));
  TRY(file_->sync());
  file_.reset();
  segment.file_bytes = static_cast<std::int64_t>(written_);
  segment.sha256 = file_hash_.hex();
  return segment;
}

Status SegmentWriter::move_to(const std::string& path) {
  TRY(disk_->rename(path_, path));
  // No row names the file yet. If the next line fails, the next attempt replaces it.
  path_.clear();
  return disk_->sync_dir(path.substr(0, path.rfind('/')));
}

Result<Json> read_trailer(os::Disk& disk, const std::string& path) {
  const Error none{Code::corrupt, path + " has no trailer, so it is not a file of the archive"};
  auto file = TRY(disk.open(path, os::Open::read_own));
  const std::uint64_t size = TRY(file->size());
  std::string end(4 + kMark.size(), '\0');
  if (size < end.size() || TRY(file->read_at(size - end.size(), end.data(), end.size())) != end.size() ||
      !end.ends_with(kMark))
    return none;
  std::uint32_t length = 0;
  for (int i = 3; i >= 0; --i)
    length = length << 8 | static_cast<unsigned char>(end[static_cast<std::size_t>(i)]);
  if (length > kMostTrailer || length + end.size() > size) return none;
  std::string text(length, '\0');
  if (TRY(file->read_at(size - end.size() - length, text.data(), length)) != length) return none;
  auto about = Json::parse(text, {16, 10'000, kMostTrailer});
  if (!about || !about->is_object()) return none;
  return about;
}

}  // namespace cairn::archive
