// Why a session starts.
#pragma once

#include <array>
#include <string_view>

namespace cairn::event {

enum class StartReason {
  startup,  // a new session; also when the host gives no reason
  resume,   // an earlier session goes on
  clear,    // the user emptied the conversation
  compact,  // the host replaced the conversation by a summary
  other,    // a reason that we do not know
};

// In the order of StartReason.
inline constexpr auto kStartReasonNames =
    std::to_array<std::string_view>({"startup", "resume", "clear", "compact", "other"});

constexpr std::string_view start_reason_name(StartReason reason) {
  return kStartReasonNames[static_cast<std::size_t>(reason)];
}

// Never fails: no text is `startup`, an unknown one `other`.
StartReason start_reason(std::string_view text);

}  // namespace cairn::event
