// What readers of transcripts share: prompts, calls that wait for their results, and the answer that ends a
// turn, which is known only when the next prompt follows or the transcript ends.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "host/transcript.h"

namespace cairn::host {

class TurnLines : public TranscriptLines {
 public:
  // `alone`: no hooks delivered the session, so the ends of its turns are found here too.
  TurnLines(const ContentId& session, std::string prompt_id, bool alone)
      : session_(session), prompt_id_(std::move(prompt_id)), alone_(alone) {}

  void take(std::string_view line, std::uint64_t begin, std::uint64_t end) final;
  void end_piece(std::uint64_t begin) final;

 protected:
  // Reads one line. `head`: its place in the file, its time if it has a "timestamp", and what the lines
  // before said about directory and prompt.
  virtual void take_line(const Json& line, TranscriptItem head) = 0;

  void add_prompt(TranscriptItem head, std::string text);
  void add_call(TranscriptItem head, std::string id, std::string tool, Json input);
  // The newest call with that id, with or without its result; null when it is not in this piece.
  TranscriptItem* call_with_id(std::string_view id);
  // What the assistant said. Short remarks are left out.
  void add_text(event::TextKind kind, std::string_view text, TranscriptItem head);
  // `text` may be the turn's last answer: it is, if a prompt or the end of the file follows.
  void may_end(const TranscriptItem& head, std::string_view text);
  // The turn goes on: the last answer did not end it.
  void goes_on() { answer_.reset(); }
  // The host says itself that the turn ended, with this answer.
  void add_stop(TranscriptItem head, std::string_view text);

  ContentId session_;
  std::string prompt_id_;
  std::string cwd_, branch_;
  bool alone_;

 private:
  std::optional<TranscriptItem> answer_;
};

// Whether the error says that the host has no such tool.
bool is_unknown_tool(std::string_view error);
// The error of a call, unchanged; but an unknown tool gets the same words for every host, because catching up
// recognises it by them.
std::string call_error(std::string_view tool, std::string_view error);

// The number after the last `words` in `text`; nothing when they are not in it.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view words);

// Calls `visit(path, name, stat)` for the files below `directory`, those that are no directories, at most
// `depth` directories deep.
template <class F>
void walk_files(os::Disk& disk, const std::string& directory, int depth, const F& visit) {
  const auto names = disk.list(directory);
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string path = directory + "/" + name;
    const auto stat = disk.stat(path);
    if (!stat) continue;
    if (!stat->is_dir)
      visit(path, name, *stat);
    else if (depth > 0)
      walk_files(disk, path, depth - 1, visit);
  }
}

// Whether the text is a session id like "0b5d6c1e-...": 36 hex digits and dashes.
bool is_uuid(std::string_view text);

}  // namespace cairn::host
