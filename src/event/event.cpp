#include "event/event.h"

#include <algorithm>

namespace cairn::event {

std::string_view kind_name(Kind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

StartReason start_reason(std::string_view text) {
  if (text.empty()) return StartReason::startup;
  const auto found = std::find(kStartReasonNames.begin(), kStartReasonNames.end(), text);
  return found == kStartReasonNames.end() ? StartReason::other
                                          : static_cast<StartReason>(found - kStartReasonNames.begin());
}

}  // namespace cairn::event
