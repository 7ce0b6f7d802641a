#include "host/transcript.h"

#include <algorithm>

#include "base/text.h"
#include "host/record.h"

namespace cairn::host {

std::string TranscriptRecord::text() const {
  std::string all = said;
  const auto add = [&all](std::string_view text) {
    if (!text.empty()) all.append(all.empty() ? "" : "\n").append(text);
  };
  for (const RecordCall& call : calls) add(call.tool + " " + call.input.dump());
  for (const RecordResult& result : results) add(result.text);
  return all;
}

// How a piece is read:
// 1. find_line_feed() searches for the end of the first line, in at most kTranscriptLook bytes a call. When
//    there is none, nothing is read, and piece.looked says where the next call goes on: an endless line is
//    searched once, not again at each call.
// 2. A first line that is too long is only counted.
// 3. Blocks are added to a buffer, and each whole line in it is passed to the host's reader. The unfinished
//    rest stays in the buffer for the next block. When it gets too long, it is dropped up to its line feed.

static constexpr std::size_t kFirstBlock = 16u << 10;  // usually there are only a few new lines
static constexpr std::size_t kLargestBlock = 256u << 10;

// The first line feed from `from` on, within kTranscriptLook bytes.
struct LineFeed {
  std::optional<std::uint64_t> at;
  std::uint64_t looked = 0;
  bool at_end = false;
};
static Result<LineFeed> find_line_feed(os::File& file, std::uint64_t from) {
  LineFeed found;
  std::string block(kFirstBlock, '\0');
  for (found.looked = from; found.looked - from < kTranscriptLook;) {
    const std::size_t got = TRY(file.read_at(found.looked, block.data(), block.size()));
    found.at_end = got == 0;
    if (found.at_end) break;
    const std::size_t feed = std::string_view(block).substr(0, got).find('\n');
    if (feed != std::string_view::npos) {
      found.at = found.looked + feed;
      break;
    }
    found.looked += got;
    block.resize(kLargestBlock);
  }
  return found;
}

Result<TranscriptPiece> read_transcript(os::File& file, std::uint64_t offset, TranscriptLines& lines,
                                        std::size_t max_line, std::uint64_t looked_before) {
  lines.piece.end = offset;
  const LineFeed first = TRY(find_line_feed(file, std::max(offset, looked_before)));
  if (!first.at) {
    lines.piece.looked = first.looked;
    lines.piece.at_end = first.at_end;
    return std::move(lines.piece);
  }
  const std::uint64_t first_end = *first.at + 1;
  const bool too_long = *first.at - offset > max_line;
  if (too_long) {
    lines.piece.lines = lines.piece.too_long = 1;
    lines.piece.end = first_end;
  }
  std::size_t block = kFirstBlock;
  std::string buffer;                                // starts at `at` with the current line
  std::uint64_t at = too_long ? first_end : offset;  // position of the buffer in the file
  std::size_t looked = 0;                            // bytes of the buffer without a line feed
  std::uint64_t skipped = 0;                         // bytes of a too long line before the buffer
  // The second condition ends the piece inside of an endless line.
  while (lines.piece.end < first_end + kTranscriptPiece &&
         at + buffer.size() < first_end + kTranscriptPiece + kTranscriptLook) {
    const std::size_t had = buffer.size();
    buffer.resize(had + block);
    const std::size_t got = TRY(file.read_at(at + had, buffer.data() + had, block));
    buffer.resize(had + got);
    block = std::min(block * 2, kLargestBlock);
    if (got == 0) {
      lines.piece.at_end = true;
      break;
    }
    std::size_t begin = 0;
    for (std::size_t feed; (feed = buffer.find('\n', std::max(begin, looked))) != std::string::npos;
         begin = feed + 1) {
      const std::uint64_t end = at + feed + 1;
      if (skipped > 0) {
        ++lines.piece.lines;
        ++lines.piece.too_long;
        lines.piece.end = end;
        skipped = 0;
      } else {
        lines.take(std::string_view(buffer).substr(begin, feed - begin), at + begin, end);
      }
    }
    buffer.erase(0, begin);
    at += begin;
    if (buffer.size() > max_line || skipped > 0) {
      skipped += buffer.size();
      at += buffer.size();
      buffer.clear();
    }
    looked = buffer.size();
  }
  lines.end_piece(offset);
  lines.piece.looked = at + buffer.size();
  return std::move(lines.piece);
}

}  // namespace cairn::host
