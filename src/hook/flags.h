// hook.flags: the only settings a hook reads. A fixed file of 64 bytes that the daemon and `config set`
// write.
//
//   cairn1 sync=process capture=on  start=003000 prompt=000200 [a blank][4 letters]\n
//
// The letters are blanks by default, as in versions that did not have them. The first is `-`: no help for a
// compaction; the second `f`: help after a failed tool call; the third `s`: a brief for subagents; the fourth
// is not used. A file that is missing, short or invalid gives the defaults.
#pragma once

#include <string>
#include <string_view>

namespace cairn::hook {

struct Flags {
  enum class Sync { process, disk };
  Sync sync = Sync::process;        // disk: an event survives a power cut, not only the death of processes
  bool capture = true;              // false: hooks deliver nothing
  int session_start_ms = 3000;      // how long the start of a session waits for an answer
  int user_prompt_submit_ms = 200;  // the same of a prompt, and of an event that may get help
  // Which events ask a running daemon for help, in addition to the start of a session and a prompt.
  bool help_compaction = true;
  bool help_failure = false;
  bool help_subagent = false;

  static constexpr std::size_t kBytes = 64;
  static Flags decode(std::string_view bytes);
  std::string encode() const;  // exactly kBytes
  bool operator==(const Flags&) const = default;
};

}  // namespace cairn::hook
