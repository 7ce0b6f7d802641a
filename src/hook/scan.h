// The event's name, found in the payload as it passes: for a hook that was registered without an EVENT
// argument.
//
// A bounded search for the first "hook_event_name" key, not a parser. A wrong guess costs an answer, never
// the event: intake reads the name again, properly.
#pragma once

#include <string>
#include <string_view>

namespace cairn::hook {

class EventNameScan {
 public:
  // Payload bytes in order. Those beyond the first 64 KB are not looked at.
  void add(std::string_view bytes);
  // The name, or empty.
  std::string event() const;

 private:
  std::string seen_;
};

}  // namespace cairn::hook
