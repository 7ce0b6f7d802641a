// Copilot CLI's transcripts: session-state/SESSION/events.jsonl. Hooks have no ids of calls or prompts, so
// where hooks ran only texts are read from it, and the answer that ends a turn, which no hook has.
#pragma once

#include <string>
#include <string_view>

#include "event/event.h"
#include "host/record.h"
#include "host/turn_lines.h"
#include "os/disk.h"

namespace cairn::host::copilot_cli {

class Lines final : public TurnLines {
 public:
  using TurnLines::TurnLines;

 private:
  void take_line(const Json& line, TranscriptItem head) override;
  void take_result(const Json& data, const TranscriptItem& head);
};

std::optional<TranscriptFile> transcript_file(std::string_view path);
TranscriptRecord read_record(const Json& line);

// The name under which a tool is stored: those of MCP servers ("server-tool") get "mcp__" before them.
std::string tool_named(std::string_view name);

// The number in "... completed with exit code 3>".
std::int64_t exit_code_of(std::string_view text);

// A Stop says nothing about the answer: takes it from the end of the transcript.
void add_last_answer(event::Event& event, os::Disk& disk);

}  // namespace cairn::host::copilot_cli
