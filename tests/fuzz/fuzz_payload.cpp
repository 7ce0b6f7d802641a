// Any bytes that a host, or a program in its place, sends to a hook: they are read, gated and distilled
// safely.
//
// The first four bytes choose the event's name, the host, whether the payload counts as cut and the gate's
// rules; the rest is the payload. The same bytes are also read as a whole inbox file.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "base/hash.h"
#include "base/text.h"
#include "distil/turn.h"
#include "gate/gate.h"
#include "gate/private_text.h"
#include "hook/envelope.h"
#include "host/host.h"

namespace {

using namespace cairn;

void require(bool condition) {
  if (!condition) std::abort();
}

constexpr std::size_t kMaxField = 4096;

constexpr std::array kNames = std::to_array<std::string_view>({"SessionStart",       "UserPromptSubmit",
                                                               "PreToolUse",         "PostToolUse",
                                                               "PostToolUseFailure", "Stop",
                                                               "StopFailure",        "SessionEnd",
                                                               "SubagentStart",      "SubagentStop",
                                                               "PreCompact",         "PostCompact",
                                                               "Notification",       "",
                                                               "Odd\x1b\xff",        "BeforeAgent",
                                                               "BeforeTool",         "AfterTool",
                                                               "AfterAgent",         "chat.message",
                                                               "tool.execute.after", "session.error",
                                                               "beforeSubmitPrompt", "errorOccurred"});

// What was parsed can be written and read again, and is the same.
void check_json(const Json& value) {
  const std::string text = value.dump();
  require(is_utf8(text));
  const auto again = Json::parse(text);
  require(again.ok());
  require(again->dump() == text);
}

void check_partial(std::string_view payload) {
  const Json::Parsed parsed = Json::parse_partial(payload);
  require(parsed.offset <= payload.size());
  check_json(parsed.value);
  require(Json::parse(payload).ok() == parsed.complete);
}

void check_field(std::string_view text) {
  require(is_utf8(text));
  require(text.size() <= kMaxField);
}

void check_strings(const Json& value) {
  if (value.is_string()) check_field(value.as_string());
  for (const Json& item : value.items()) check_strings(item);
  for (const Json::Member& member : value.members()) {
    check_field(member.first);
    check_strings(member.second);
  }
}

void check_event(const event::Event& event) {
  for (const std::string& text : {event.prompt, event.error, event.last_assistant_message, event.reason})
    check_field(text);
  for (const Json& value : {event.tool_input, event.tool_response, event.extra}) {
    check_json(value);
    check_strings(value);
  }
}

void check_summary(const event::Event& event) {
  distil::Turn turn;
  turn.host = event.host;
  turn.prompt = event.prompt;
  turn.last_answer = event.last_assistant_message;
  turn.failure = event.error;
  turn.root = event.cwd;
  turn.end = event.kind == event::Kind::stop           ? distil::Turn::End::stopped
             : event.kind == event::Kind::stop_failure ? distil::Turn::End::failed
             : event.kind == event::Kind::session_end  ? distil::Turn::End::cut_off
                                                       : distil::Turn::End::open;
  for (const auto outcome :
       {distil::Step::Outcome::ok, distil::Step::Outcome::failed, distil::Step::Outcome::interrupted})
    turn.steps.push_back({event.tool_name.value_or(""), event.tool_input, event.tool_response, event.error,
                          outcome, event.agent_type.value_or("")});
  const distil::Distilled distilled = distil::distil(turn);
  const distil::Summary& summary = distilled.summary;
  for (const std::string& text : {summary.request, summary.investigated, summary.learned, summary.completed,
                                  summary.next_steps, summary.notes}) {
    require(is_utf8(text));
    require(text.size() <= 2000);
    require(visible(text) == text);
  }
  require(summary.files_read.size() <= 200 && summary.files_edited.size() <= 200);
  require(distilled.observations.size() <= 6);
  for (const distil::Observation& o : distilled.observations) {
    require(!o.type.empty() && !o.title.empty() && o.title.size() <= 160);
    std::vector<std::string> texts = o.facts;
    texts.insert(texts.end(), {o.title, o.subtitle, o.narrative});
    for (const auto* list : {&o.concepts, &o.files_read, &o.files_modified})
      texts.insert(texts.end(), list->begin(), list->end());
    for (const std::string& text : texts)
      require(is_utf8(text) && visible(text) == text && text.size() <= 2000);
  }
  require(distil::distil(turn) == distilled);
}

// No tag is left, so nothing that one of them covered.
void check_private(std::string_view text) {
  const std::string clean = ascii_lower(gate::remove_private(text).of(text));
  for (const std::string_view tag : {"<private>", "</private>", "<private >", "<private\n>"})
    require(clean.find(tag) == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  cairn::ignore(hook::Envelope::decode(bytes));
  hook::Envelope::peek_order(bytes);
  if (size < 4) return 0;
  const std::string_view payload = bytes.substr(4);
  check_partial(payload);
  check_private(payload);

  hook::Envelope envelope;
  envelope.event = kNames[data[0] % kNames.size()];
  envelope.wall_ns = 1'790'000'000'000'000'000;
  const auto hosts = host::hosts();
  envelope.host = hosts[(data[1] >> 3) % hosts.size()]->name();
  if (data[1] % 2 == 1 && !payload.empty())
    envelope.head_bytes = 1 + (data[2] * 256u + data[3]) % payload.size();
  auto event = host::find_host(envelope.host).read_event(EventId{"fuzz"}, envelope, payload);
  if (!event) return 0;
  require(!event->session.empty());

  gate::Rules rules;
  if (data[1] & 2) rules.skip_tools = {"Read", "mcp__*"};
  if (data[1] & 4) rules.exclude = {"*.pem", "/etc/**", "secrets/*", "**/node_modules/**"};
  auto verdict = gate::Gate(rules).pass(*std::move(event), kMaxField);
  if (const auto* passed = std::get_if<gate::Gate::Passed>(&verdict)) {
    check_event(*passed->event);
    check_summary(*passed->event);
  }
  return 0;
}
