#include "store/wal.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace cairn::store {

namespace {

// The layout is SQLite's (its document "WAL-mode File Format").
constexpr std::size_t kHeader = 32, kFrameHeader = 24;
constexpr std::uint32_t kMagic = 0x377f0682;  // plus 1: checksums over big-endian words

std::uint32_t word(std::string_view bytes, std::size_t at, bool big = true) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return big == (std::endian::native == std::endian::big) ? value : __builtin_bswap32(value);
}

// SQLite's checksum. The sum of a frame continues that of the frame before it, and the first one that of the
// header: after one wrong frame no later sum can be verified.
struct Sum {
  std::uint32_t a = 0, b = 0;
  void add(std::string_view bytes, bool big) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      a += word(bytes, i, big) + b;
      b += word(bytes, i + 4, big) + a;
    }
  }
  bool operator==(const Sum&) const = default;
};

Sum stored_sum(std::string_view bytes, std::size_t at) {
  return {word(bytes, at), word(bytes, at + 4)};
}

}  // namespace

// Reads the frames in order up to the first with a wrong sum (`bad`). SQLite ignores all that follow. That is
// damage if a frame at or after the bad one ends a transaction and yet another frame follows: then it was not
// the last commit that was interrupted.
// Fields of a frame's header: 4 is the size of the database when the frame ends a transaction, else 0; 8 the
// salts, which are the log header's; 16 the sum.
Result<bool> wal_is_damaged(os::Disk& disk, const std::string& path) {
  auto opened = disk.open(path, os::Open::read);
  if (!opened && opened.error().code == Code::not_found) return false;
  const auto file = TRY(std::move(opened));
  std::string header(kHeader, '\0');
  if (TRY(file->read_at(0, header.data(), kHeader)) < kHeader) return false;
  const std::uint32_t magic = word(header, 0), page = word(header, 8);
  const bool big = magic == kMagic + 1;
  Sum sum;
  sum.add(std::string_view(header).substr(0, 24), big);
  if ((magic & ~1u) != kMagic || page < 512 || page > 65536 || sum != stored_sum(header, 24))
    return TRY(file->size()) > kHeader;  // without a header SQLite ignores all frames
  const std::string_view salts = std::string_view(header).substr(16, 8);
  std::string frame(kFrameHeader + page, '\0');
  bool bad = false, ended = false;  // ended: a transaction ended at or after the bad frame
  for (std::uint64_t at = kHeader; TRY(file->read_at(at, frame.data(), frame.size())) == frame.size();
       at += frame.size()) {
    // SQLite restarts a log at its beginning, with other salts: what it has not overwritten is left over.
    const bool ours = std::string_view(frame).substr(8, 8) == salts;
    if (ours && ended) return true;
    if (!bad) {
      sum.add(std::string_view(frame).substr(0, 8), big);
      sum.add(std::string_view(frame).substr(kFrameHeader), big);
      bad = !ours || sum != stored_sum(frame, 16);
    }
    if (bad && ours && word(frame, 4) != 0) ended = true;
  }
  return false;
}

Status write_wal_again(os::Disk& disk, const std::string& path) {
  const auto file = TRY(disk.open(path, os::Open::read_write));
  std::string block(256u << 10, '\0');
  std::uint64_t at = 0;
  while (const std::size_t size = TRY(file->read_at(at, block.data(), block.size()))) {
    TRY(file->write_at(at, std::string_view(block).substr(0, size)));
    at += size;
  }
  return file->sync();
}

}  // namespace cairn::store
