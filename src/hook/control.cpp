#include "hook/control.h"

#include <array>

#include "hook/envelope.h"

namespace cairn::hook {

using Asks = EventRule::Asks;

// The host makes what PreCompact prints a part of its compaction instructions, and shows it to the user.
static constexpr std::array kRules = {EventRule{"claude-code", "SessionStart", Asks::context},
                                      EventRule{"claude-code", "UserPromptSubmit", Asks::due},
                                      EventRule{"claude-code", "PreCompact", Asks::nothing, ""},
                                      EventRule{"claude-code", "PostCompact", Asks::nothing, ""}};

EventRule rule_of(std::string_view host, std::string_view event) {
  for (const std::string_view name : {host, kDefaultHost})
    for (const EventRule& rule : kRules)
      if (rule.host == name && rule.event == event) return rule;
  return {};
}

std::string broken_answer(std::string_view what) {
  std::string line(kFixedAnswer.substr(0, kFixedAnswer.size() - 1));
  line += R"(, "systemMessage": "cairn: )";
  for (const char c : what) {
    if (c == '"' || c == '\\') line += '\\';
    line += static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 0x7f ? '?' : c;
  }
  return line + "; run `cairn doctor`\"}";
}

std::string answer_request(const EventId& event, int budget_ms) {
  return "{\"v\":" + std::to_string(kProtocol) + R"(,"op":"answer","args":{"event":")" + event.value +
         R"(","ms":)" + std::to_string(budget_ms) + "}}\n";
}

}  // namespace cairn::hook
