// hook.flags: the only settings a hook reads. A fixed file of 64 bytes that the daemon and `config set`
// write.
//
//   cairn1 sync=process capture=on  start=003000 prompt=000200 [blanks]\n
//
// Missing, short or not understood: the defaults.
#pragma once

#include <string>
#include <string_view>

namespace cairn::hook {

struct Flags {
  enum class Sync { process, disk };
  Sync sync = Sync::process;    // disk: an event survives a power cut, not only the death of processes
  bool capture = true;          // false: hooks deliver nothing
  int session_start_ms = 3000;  // how long the start of a session waits for an answer
  int user_prompt_submit_ms = 200;

  static constexpr std::size_t kBytes = 64;
  static Flags decode(std::string_view bytes);
  std::string encode() const;  // exactly kBytes
  bool operator==(const Flags&) const = default;
};

}  // namespace cairn::hook
