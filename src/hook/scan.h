// Finds two texts in the payload while it is copied: the event's name, for a hook registered without an EVENT
// argument, and the session, for the note about a failed delivery.
//
// A bounded search for the first such key, not a parser. A wrong result may give a wrong answer, but never
// loses the event: intake parses both again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::hook {

// The value of the first `"key": "value"` in `json` (which may be cut off) if it has at most 64 letters,
// digits, `_` and `-`; else empty.
std::string_view word_in(std::string_view json, std::string_view key);

class PayloadScan {
 public:
  // Enough bytes for a key that the host writes first, and for one at any place.
  static constexpr std::size_t kStart = 4u << 10, kAll = 64u << 10;

  // Payload bytes, in order. Bytes beyond the first `limit` are not searched.
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
