// Reads a host's transcript: prompts, tool calls with their results, and ends of turns, in the order of its
// lines.
//
// Transcripts are the second source beside the hooks. A line that is not JSON, too long, unknown or of
// another session is skipped, and counted if it is damaged. A last line without a line feed is read next
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "event/text_kind.h"
#include "os/disk.h"

namespace cairn::host {

// A shorter remark of the assistant is left out: "Let me look at the tests." is not a finding, and there are
// thousands of such remarks.
inline constexpr std::size_t kLeastRemark = 60;

// The result of a tool call.
struct ToolResult {
  Json response;  // `toolUseResult`, else the text that the model was given
  bool failed = false;
  std::string error;      // when it failed
  bool rejected = false;  // stopped or refused by the user before its end
  WallTime at;
};

struct TranscriptItem {
  enum class Kind { prompt, call, stop, text };
  Kind kind = Kind::call;
  std::uint64_t begin = 0, end = 0;  // its line in the file
  WallTime at;
  std::string prompt_id;  // may be empty
  std::string cwd;
  std::string branch;                   // may be empty
  std::optional<std::string> agent_id;  // inside a subagent

  std::string text;                                // prompt; stop: the last answer; text: what was said
  event::TextKind said = event::TextKind::remark;  // text
  std::string tool_use_id, tool_name;              // call
  Json input;
  std::optional<ToolResult> result;  // nothing while it runs, or when it was interrupted
};

// A transcript on the disk, of a whole session.
struct FoundTranscript {
  std::string path;
  std::string session;
  std::uint64_t bytes = 0;
  WallTime modified_at;
  std::string left_out;  // why it is not a session of the user; empty: it is one
};

// A prompt that the host's list of prompts has; its transcript may be gone.
struct HistoryPrompt {
  std::string session;    // empty: the host did not say
  std::string directory;  // where it was typed
  std::string text;
  WallTime at;
};

// A file in which the host itself keeps notes about a project.
struct FoundNotes {
  std::string path;
  std::string directory;  // of the project
};

struct TranscriptPiece {
  std::vector<TranscriptItem> items;
  std::uint64_t end = 0;     // after the last whole line that was read
  bool at_end = false;       // nothing follows except perhaps an unfinished line
  std::uint64_t looked = 0;  // the line at `end` continues at least up to here
  std::int64_t lines = 0, malformed = 0, too_long = 0;
};

// Reads the lines of a transcript. Each host has its own reader.
class TranscriptLines {
 public:
  virtual ~TranscriptLines() = default;

  // Reads the line at [begin, end) of the file; `line` is without its line feed. Never fails.
  virtual void take(std::string_view line, std::uint64_t begin, std::uint64_t end) = 0;
  // The piece that began at `begin` ends here. A line whose meaning depends on the next one may be left for
  // the next piece: piece.end says so.
  virtual void end_piece(std::uint64_t begin) { static_cast<void>(begin); }

  TranscriptPiece piece;
};

inline constexpr std::size_t kMaxTranscriptLine = 64u << 20;
// The size of a piece beyond its first line: about 30 ms of reading, so that hooks do not wait.
inline constexpr std::size_t kTranscriptPiece = 2u << 20;

// How many bytes are searched for the end of one line; the next piece continues there.
inline constexpr std::size_t kTranscriptLook = 16u << 20;

// Reads the next piece from `offset`, the beginning of a line. `looked`: that of an earlier piece which ended
// at `offset`.
Result<TranscriptPiece> read_transcript(os::File& file, std::uint64_t offset, TranscriptLines& lines,
                                        std::size_t max_line = kMaxTranscriptLine, std::uint64_t looked = 0);

}  // namespace cairn::host
