#include "hook/control.h"

#include <array>

namespace cairn::hook {

std::string_view fixed_answer(std::string_view event) {
  struct Row {
    std::string_view event, answer;
  };
  static constexpr std::array kOthers = {Row{"PreCompact", ""}, Row{"PostCompact", ""}};
  for (const Row& row : kOthers)
    if (row.event == event) return row.answer;
  return kFixedAnswer;
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
