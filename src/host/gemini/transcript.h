// Gemini CLI's transcripts: tmp/PROJECT/chats/session-TIME-ID.jsonl, where ID is the start of the session's
// id. A message that grows is written again with the same id.
//
// Hooks and transcript have no id in common, neither of prompts nor of tool calls. So where hooks ran, only
// texts are read from it.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "host/record.h"
#include "host/turn_lines.h"

namespace cairn::host::gemini_cli {

class Lines final : public TurnLines {
 public:
  using TurnLines::TurnLines;

 private:
  void take_line(const Json& line, TranscriptItem head) override;
  void take_user(const Json& line, TranscriptItem head);
  void take_model(const Json& line, const TranscriptItem& head);
  void take_call(const Json& call, const TranscriptItem& head);

  std::set<std::string, std::less<>> seen_;  // ids of messages and calls that were read
};

std::optional<TranscriptFile> transcript_file(std::string_view path);
// Takes the session's id from the file.
void name_session(os::Disk& disk, FoundTranscript& found);
TranscriptRecord read_record(const Json& line);

// The user's words without the block that hooks put in front of them.
std::string without_hook_context(std::string_view prompt);

}  // namespace cairn::host::gemini_cli
