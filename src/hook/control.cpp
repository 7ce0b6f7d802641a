#include "hook/control.h"

namespace cairn::hook {

std::string answer_request(const EventId& event, int budget_ms) {
  return "{\"v\":" + std::to_string(kProtocol) + R"(,"op":"answer","args":{"event":")" + event.value +
         R"(","ms":)" + std::to_string(budget_ms) + "}}\n";
}

}  // namespace cairn::hook
