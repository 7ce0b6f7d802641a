// Claude Code's transcripts: one JSON object a line, below projects/ in its configuration directory.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "host/transcript.h"
#include "os/disk.h"

namespace cairn::host::claude {

class Lines final : public TranscriptLines {
 public:
  Lines(const ContentId& session, std::string prompt_id, bool alone)
      : session_(session), prompt_id_(std::move(prompt_id)), alone_(alone) {}

  void take(std::string_view line, std::uint64_t begin, std::uint64_t end) override;
  void end_piece(std::uint64_t begin) override;

 private:
  void take_user(const Json& line, const TranscriptItem& head);
  void take_assistant(const Json& line, const TranscriptItem& head);
  void take_text(event::TextKind kind, std::string text, const TranscriptItem& head);
  // Lines that neither the user nor the model wrote: titles, summaries, links.
  void take_note(const Json& line, TranscriptItem head);
  // Whether the line goes on with the prompt before it, although it names another one.
  bool continues_prompt(const Json& line, const std::string& prompt_id);
  void take_result(const Json& block, const Json& line, const TranscriptItem& head);

  ContentId session_;
  std::string prompt_id_;
  bool alone_;
  std::set<std::string, std::less<>> notified_;  // alone_: prompts that were notifications
  std::optional<TranscriptItem> answer_;         // alone_: ends its turn if a prompt or nothing follows
};

// As Host has them.
std::vector<HistoryPrompt> prompt_history(os::Disk& disk, const std::string& root);
std::vector<FoundNotes> find_notes(os::Disk& disk, const std::string& root);
std::vector<std::string> transcript_roots(os::Disk& disk, const std::string& configuration);
std::vector<FoundTranscript> find_transcripts(os::Disk& disk, const std::string& root);

}  // namespace cairn::host::claude
