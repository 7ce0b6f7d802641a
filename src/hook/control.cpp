#include "hook/control.h"

#include <algorithm>
#include <array>

#include "hook/envelope.h"

namespace cairn::hook {

using Asks = EventRule::Asks;

static constexpr std::string_view kEmpty = "{}", kAny = "*";

// Claude Code adds what PreCompact prints to its instructions for the compaction, and shows it to the user:
// so that event gets text or nothing. Cursor runs the hooks of Claude Code too, under its own event names
// (sessionStart, beforeSubmitPrompt). All other hosts take an object without members as "nothing to say";
// they could show any other text to the user, or count it as a failure. Rules with "*" are for a host's
// other events.
static constexpr std::array kRules = {
    EventRule{"claude-code", "SessionStart", Asks::context},
    EventRule{"claude-code", "UserPromptSubmit", Asks::due},
    EventRule{"claude-code", "sessionStart", Asks::context},
    EventRule{"claude-code", "beforeSubmitPrompt", Asks::due},
    EventRule{"claude-code", "PreCompact", Asks::text, "", &Flags::help_compaction},
    EventRule{"claude-code", "PostCompact", Asks::nothing, ""},
    EventRule{"claude-code", "PostToolUseFailure", Asks::help, kFixedAnswer, &Flags::help_failure},
    EventRule{"claude-code", "SubagentStart", Asks::help, kFixedAnswer, &Flags::help_subagent},
    EventRule{"codex", "SessionStart", Asks::context, kEmpty},
    EventRule{"codex", "UserPromptSubmit", Asks::due, kEmpty},
    EventRule{"codex", kAny, Asks::nothing, kEmpty},
    EventRule{"gemini", "SessionStart", Asks::context, kEmpty},
    EventRule{"gemini", "BeforeAgent", Asks::due, kEmpty},
    EventRule{"gemini", kAny, Asks::nothing, kEmpty},
    EventRule{"opencode", "session-start", Asks::context, kEmpty, nullptr, false},
    EventRule{"opencode", "chat.message", Asks::due, kEmpty, nullptr, false},
    EventRule{"opencode", kAny, Asks::nothing, kEmpty, nullptr, false},
    EventRule{"qwen", "SessionStart", Asks::context, kEmpty},
    EventRule{"qwen", "UserPromptSubmit", Asks::due, kEmpty},
    EventRule{"qwen", kAny, Asks::nothing, kEmpty},
    EventRule{"copilot", "SessionStart", Asks::context, kEmpty, nullptr, false},
    EventRule{"copilot", "UserPromptSubmit", Asks::due, kEmpty, nullptr, false},
    EventRule{"copilot", kAny, Asks::nothing, kEmpty, nullptr, false},
    EventRule{"cursor", "sessionStart", Asks::context, kEmpty, nullptr, false},
    EventRule{"cursor", "beforeSubmitPrompt", Asks::due, kEmpty, nullptr, false},
    EventRule{"cursor", kAny, Asks::nothing, kEmpty, nullptr, false},
};

// The first match counts, so a host's rule with "*" is after its other rules. Every host but the default one
// has such a rule: only an unknown host gets the rules of the default one.
EventRule rule_of(std::string_view host, std::string_view event) {
  for (const std::string_view name : {host, kDefaultHost})
    for (const EventRule& rule : kRules)
      if (rule.host == name && (rule.event == event || rule.event == kAny)) return rule;
  return {};
}

std::string broken_answer(const EventRule& rule, std::string_view what) {
  if (!rule.warns) return std::string(rule.answer);
  // The message is added as the last member of the fixed answer: drop its brace, and put it at the end again.
  // Bytes that JSON does not allow in a string become `?`, and so does all that is not ASCII: a path in the
  // message may not be valid UTF-8.
  std::string line(rule.answer.substr(0, rule.answer.size() - 1));
  line += line.size() > 1 ? ", " : "";
  line += R"("systemMessage": "cairn: )";
  for (const char c : what) {
    if (c == '"' || c == '\\') line += '\\';
    line += static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 0x7f ? '?' : c;
  }
  return line + "; run `cairn doctor`\"}";
}

std::string encode_text_reply(std::string_view text) {
  std::string line(1, kTextReply);
  line += text;
  std::replace(line.begin(), line.end(), '\n', kTextLine);
  return line;
}

std::string decode_text_reply(std::string_view line) {
  if (!line.starts_with(kTextReply)) return {};
  std::string text(line.substr(1));
  std::replace(text.begin(), text.end(), kTextLine, '\n');
  return text;
}

std::string answer_request(const EventId& event, int budget_ms) {
  return "{\"v\":" + std::to_string(kProtocol) + R"(,"op":"answer","args":{"event":")" + event.value +
         R"(","ms":)" + std::to_string(budget_ms) + "}}\n";
}

}  // namespace cairn::hook
