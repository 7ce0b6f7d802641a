// Qwen Code's transcripts: projects/DIRECTORY/chats/SESSION.jsonl. Its lines are like Claude Code's, its
// messages like Gemini's. Tool calls have the ids that hooks have; prompts do not.
#pragma once

#include <string_view>

#include "host/record.h"
#include "host/turn_lines.h"

namespace cairn::host::qwen_code {

class Lines final : public TurnLines {
 public:
  using TurnLines::TurnLines;

 private:
  void take_line(const Json& line, TranscriptItem head) override;
  void take_model(const Json& line, const TranscriptItem& head);
  void take_results(const Json& line, const TranscriptItem& head);
};

// "Command: ...\nOutput: oops\nError: ...\nExit Code: 3": what was printed.
std::string_view printed_in(std::string_view text);

std::optional<TranscriptFile> transcript_file(std::string_view path);
TranscriptRecord read_record(const Json& line);

}  // namespace cairn::host::qwen_code
