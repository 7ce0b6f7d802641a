// Codex's transcripts ("rollouts"): sessions/YYYY/MM/DD/rollout-TIME-SESSION.jsonl. They have what its hooks
// leave out: exit codes, failed patches.
#pragma once

#include <string>
#include <string_view>

#include "event/event.h"
#include "host/record.h"
#include "host/turn_lines.h"
#include "os/disk.h"

namespace cairn::host::codex_cli {

class Lines final : public TurnLines {
 public:
  using TurnLines::TurnLines;

 private:
  void take_line(const Json& line, TranscriptItem head) override;
  void take_message(const Json& payload, TranscriptItem head);
  void take_item(const Json& payload, TranscriptItem head);
  void take_response(const Json& payload, TranscriptItem head);
  void take_output(const Json& payload, const TranscriptItem& head);
};

// Which session the file is of, by its name; nothing for another file.
std::optional<TranscriptFile> transcript_file(std::string_view path);
// Why a transcript is not a session of the user: a subagent has a file of its own.
std::string why_left_out(os::Disk& disk, const std::string& path);
TranscriptRecord read_record(const Json& line);

// Its hooks do not say how a command ended, but its transcript does, usually before the hook runs. A command
// that failed becomes a failure. When the line is not there yet, reading the transcript later corrects it.
void add_exit_code(event::Event& event, os::Disk& disk);

}  // namespace cairn::host::codex_cli
