// Claude Code's transcripts: one JSON object a line, below projects/ in its configuration directory.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/json.h"
#include "host/transcript.h"

namespace cairn::host::claude {

class Lines final : public TranscriptLines {
 public:
  Lines(const ContentId& session, std::string prompt_id)
      : session_(session), prompt_id_(std::move(prompt_id)) {}

  void take(std::string_view line, std::uint64_t begin, std::uint64_t end) override;

 private:
  void take_user(const Json& line, const TranscriptItem& head);
  void take_assistant(const Json& line, const TranscriptItem& head);
  void take_text(event::TextKind kind, std::string text, const TranscriptItem& head);
  // Lines that neither the user nor the model wrote: titles, summaries, links.
  void take_note(const Json& line, TranscriptItem head);
  void take_result(const Json& block, const Json& line, const TranscriptItem& head);

  ContentId session_;
  std::string prompt_id_;
};

}  // namespace cairn::host::claude
