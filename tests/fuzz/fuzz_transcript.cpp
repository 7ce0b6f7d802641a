// Any bytes in a transcript: they are read safely, piece by piece, wherever the file is cut.
//
// The first two bytes say where the file is cut and which host wrote it; the rest is the file.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "host/host.h"

namespace {

using namespace cairn;
using fuzz::require;
using fuzz::require_sound;

constexpr std::size_t kMaxLine = 4096;

class MemoryFile final : public os::File {
 public:
  explicit MemoryFile(std::string_view bytes) : bytes_(bytes) {}
  Result<std::size_t> read_at(std::uint64_t offset, char* to, std::size_t size) override {
    if (offset >= bytes_.size()) return std::size_t{0};
    return bytes_.substr(offset).copy(to, size);
  }
  Status write_at(std::uint64_t, std::string_view) override { return Error{Code::denied, "read only"}; }
  Status truncate(std::uint64_t) override { return Error{Code::denied, "read only"}; }
  Result<std::uint64_t> size() override { return bytes_.size(); }
  Status sync() override { return {}; }

 private:
  std::string_view bytes_;
};

void check_item(const host::TranscriptItem& item, const host::TranscriptPiece& piece, std::uint64_t from) {
  require(from <= item.begin && item.begin < item.end && item.end <= piece.end);
  for (const std::string& text : {item.prompt_id, item.cwd, item.text, item.tool_use_id, item.tool_name})
    require(is_utf8(text));
  require_sound(item.input);
  require(item.kind != host::TranscriptItem::Kind::call || !item.tool_use_id.empty());
  if (!item.result) return;
  require_sound(item.result->response);
  require(is_utf8(item.result->error));
}

// Reads to the end in pieces; returns how far that is.
std::uint64_t read_all(const host::Host& host, std::string_view bytes, bool alone) {
  MemoryFile file(bytes);
  std::uint64_t offset = 0;
  std::string prompt_id;
  std::int64_t lines = 0;
  for (;;) {
    const auto reader = host.transcript_lines(ContentId{"s"}, prompt_id, alone);
    const auto piece = host::read_transcript(file, offset, *reader, kMaxLine);
    require(piece.ok());
    require(piece->end >= offset && piece->end <= bytes.size());
    require(piece->end == 0 || bytes[piece->end - 1] == '\n');
    require(piece->at_end || piece->end > offset);
    require(piece->malformed + piece->too_long <= piece->lines);
    for (const auto& item : piece->items) check_item(item, *piece, offset);
    if (!piece->items.empty()) prompt_id = piece->items.back().prompt_id;
    lines += piece->lines;
    offset = piece->end;
    if (piece->at_end) break;
  }
  require(lines <= std::count(bytes.begin(), bytes.end(), '\n'));
  return offset;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto hosts = host::hosts();
  const host::Host& host = *hosts[data[1] % hosts.size()];
  const bool alone = data[0] % 2 == 1;
  const std::uint64_t whole = read_all(host, bytes, alone);
  // A file that is still being written gives no more than its whole lines.
  const std::size_t cut = bytes.empty() ? 0 : (data[0] * 256u + data[1]) % bytes.size();
  require(read_all(host, bytes.substr(0, cut), alone) <= std::min<std::uint64_t>(whole, cut));
  return 0;
}
