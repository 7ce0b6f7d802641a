#include "host/shaped.h"

#include <array>

#include "base/text.h"
#include "host/host.h"

namespace cairn::host {

using event::Event;
using event::Kind;

Kind kind_in(KindNames names, std::string_view event_name) {
  for (const auto& [name, kind] : names)
    if (name == event_name) return kind;
  return Kind::other;
}

std::string_view name_in(KindNames names, Kind wanted) {
  for (const auto& [name, kind] : names)
    if (kind == wanted) return name;
  return kUnknownEvent;
}

// The value of a string member near the end of a cut payload. Its middle is missing, so it cannot be parsed.
static std::optional<std::string> scan_tail(std::string_view tail, std::string_view key) {
  const std::string quoted = "\"" + std::string(key) + "\"";
  const std::size_t at = tail.rfind(quoted);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = trim(tail.substr(at + quoted.size(), 300));
  if (!rest.starts_with(':')) return std::nullopt;
  rest = trim(rest.substr(1));
  if (!rest.starts_with('"')) return std::nullopt;
  const std::size_t end = rest.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(rest.substr(1, end - 1));
}

static std::string first_text(const Json& from, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys)
    if (auto text = from.text(key)) return *std::move(text);
  return {};
}

// An empty id counts as none.
static std::optional<std::string> some(std::optional<std::string> text) {
  return text && !text->empty() ? std::move(text) : std::nullopt;
}

// Members that are not kept in `extra`: those with a field of their own in Event, and two settings of the
// host (permission_mode, effort), which say nothing about the work.
static bool has_a_place(std::string_view key) {
  static constexpr std::array kKnown = {
      "session_id",      "transcript_path", "cwd",         "hook_event_name",
      "prompt_id",       "agent_id",        "agent_type",  "tool_name",
      "tool_input",      "tool_response",   "tool_output", "tool_use_id",
      "error",           "is_interrupt",    "prompt",      "last_assistant_message",
      "permission_mode", "effort"};
  for (const std::string_view known : kKnown)
    if (key == known) return true;
  return false;
}

static Json extra_of(const Json& payload) {
  Json::Object extra;  // not set(), which searches all members: too slow for a hundred thousand keys
  for (const auto& [key, value] : payload.members())
    if (!has_a_place(key)) extra.emplace_back(key, value);
  return extra;
}

static void read_tool(Event& e, const Json& payload) {
  e.tool_name = some(payload.text("tool_name"));
  e.tool_use_id = some(payload.text("tool_use_id"));
  e.tool_input = payload["tool_input"];
  e.tool_response = payload.has("tool_response") ? payload["tool_response"] : payload["tool_output"];
  e.interrupted = payload["is_interrupt"].as_bool() || was_interrupted(e.tool_response);
}

std::string text_of(const Json& value) {
  if (value.is_null()) return {};
  return value.is_string() ? std::string(value.as_string()) : value.dump();
}

Result<Shaped> read_shaped(KindNames names, const EventId& id, const hook::Envelope& envelope,
                           std::string_view payload) {
  // Of a cut payload only the head can be parsed: its middle is missing.
  const std::string_view head = envelope.cut() ? payload.substr(0, envelope.head_bytes) : payload;
  Json::Parsed parsed = Json::parse_partial(head);
  const Json& p = parsed.value;
  Event e;
  e.id = id;
  e.host = envelope.host;
  e.session = ContentId{first_text(p, {"session_id", "sessionId", "conversation_id"})};
  if (e.session.empty()) {
    if (trim(payload).empty()) return Error{Code::invalid, "empty payload"};
    return Error{Code::invalid, parsed.complete ? "payload has no session_id" : "payload is not JSON"};
  }
  e.name = !envelope.event.empty() ? envelope.event : first_text(p, {"hook_event_name"});
  if (e.name.empty()) e.name = kUnknownEvent;
  e.kind = kind_in(names, e.name);
  e.at = from_epoch_ms(envelope.wall_ns / 1'000'000);
  e.boot_ns = envelope.boot_ns;
  e.boot_id = envelope.boot_id;
  e.host_process = envelope.host_process;
  e.project_dir = envelope.project_dir;
  e.cwd = first_text(p, {"cwd"});
  e.transcript_path = first_text(p, {"transcript_path"});
  e.prompt_id = some(p.text("prompt_id"));
  e.agent_id = some(p.text("agent_id"));
  e.agent_type = p.text("agent_type");
  e.prompt = first_text(p, {"prompt"});
  read_tool(e, p);
  e.error = text_of(p["error"]);
  e.last_assistant_message = first_text(p, {"last_assistant_message"});
  // Each kind of event has another member for its reason.
  e.reason = first_text(p, {"source", "reason", "stop_reason", "trigger"});
  if (e.kind == Kind::session_start) e.start_reason = event::start_reason(e.reason);
  e.extra = extra_of(p);
  e.cut = envelope.cut();
  e.incomplete = !parsed.complete || parsed.limited;
  if (e.cut && !e.tool_use_id) e.tool_use_id = scan_tail(payload.substr(envelope.head_bytes), "tool_use_id");
  return Shaped{std::move(e), std::move(parsed.value)};
}

Json write_shaped(const Event& event) {
  Json payload = Json::object({{"session_id", event.session.value},
                               {"transcript_path", event.transcript_path},
                               {"cwd", event.cwd},
                               {"hook_event_name", event.name}});
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) payload.set(key, value);
  };
  text("prompt_id", event.prompt_id.value_or(""));
  text("prompt", event.prompt);
  text("tool_name", event.tool_name.value_or(""));
  text("tool_use_id", event.tool_use_id.value_or(""));
  if (!event.tool_input.is_null()) payload.set("tool_input", event.tool_input);
  if (!event.tool_response.is_null()) payload.set("tool_response", event.tool_response);
  text("last_assistant_message", event.last_assistant_message);
  text(event.kind == Kind::session_start ? "source" : "reason", event.reason);
  return payload;
}

void set_exit_code(Event& event, std::int64_t code, std::string_view output) {
  event.kind = Kind::tool_failure;
  event.error = "Exit code " + std::to_string(code);
  if (!output.empty()) event.error.append("\n").append(output);
}

}  // namespace cairn::host
