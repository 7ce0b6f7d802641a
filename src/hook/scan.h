// Two texts of the payload, found as it passes: the event's name, for a hook that was registered without an
// EVENT argument, and the session, for the note of a delivery that failed.
//
// A bounded search for the first such key, not a parser. A wrong guess costs an answer, never the event:
// intake reads both again, properly.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::hook {

// The value of the first `"key": "value"` in `json`, or of the part of it that is there, if it is a word of
// at most 64 letters, digits, `_` and `-`; else empty.
std::string_view word_in(std::string_view json, std::string_view key);

class PayloadScan {
 public:
  // So much is enough for a key that the host writes first, and for one that may stand anywhere.
  static constexpr std::size_t kStart = 4u << 10, kAll = 64u << 10;

  // Payload bytes in order. Those beyond the first `limit` are not looked at.
  void add(std::string_view bytes, std::size_t limit = kAll);
  bool empty() const { return seen_.empty(); }
  // The name, or empty.
  std::string event() const { return std::string(word_in(seen_, "hook_event_name")); }
  // The host's id of the session, or empty.
  std::string session() const { return std::string(word_in(seen_, "session_id")); }

 private:
  std::string seen_;
};

}  // namespace cairn::hook
