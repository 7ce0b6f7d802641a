#include <algorithm>

#include "base/text.h"
#include "gate/gate.h"
#include "host/host.h"
#include "ops/operation.h"
#include "ops/policy.h"
#include "store/states.h"

namespace cairn::ops {

// `findings` are in order: each line number is counted on from the one before.
static Json findings_json(const std::vector<gate::Finding>& findings, std::string_view text) {
  Json list = Json::array();
  std::int64_t line = 1;
  std::size_t at = 0;
  for (const gate::Finding& finding : findings) {
    line += std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                       text.begin() + static_cast<std::ptrdiff_t>(finding.begin), '\n');
    at = finding.begin;
    list.push(Json::object({{"line", line}, {"kind", finding.kind}, {"fingerprint", finding.fingerprint}}));
  }
  return list;
}

// The event of a tool that has read the file.
static event::Event read_of(const std::string& path, const std::string& text) {
  const host::Host& host = host::default_host();
  host::MadeCall call = host.read_call(path, text);
  event::Event event;
  event.kind = event::Kind::tool;
  event.name = host.name_of(event.kind);
  event.tool_name = std::move(call.tool);
  event.tool_input = std::move(call.input);
  event.tool_response = std::move(call.response);
  return event;
}

// What the gate does with the file's content: as an event if it is one, else as a file that a tool has read.
static Json explain(World& world, const std::string& path, const std::string& bytes) {
  const gate::Gate gate(gate_rules(world.disk, world.settings, world.key));
  hook::Envelope envelope;
  envelope.wall_ns = world.clock.wall_ns();
  const host::Host& host = host::default_host();
  Result<event::Event> event = host.read_event(EventId{std::string(32, '0')}, envelope, bytes);
  // The host reads any JSON object; one that names no event is a text here.
  const bool is_event = event && event->name != host::kUnknownEvent && Json::parse(bytes).ok();
  const std::string text = valid_utf8(bytes);
  const bool env_file = !is_event && gate::is_env_file(path);
  Json out = Json::object({{"as", is_event   ? event->name
                                  : env_file ? ".env file"
                                             : "text"},
                           {"outcome", name_of(store::EventOutcome::stored)},
                           {"reason", Json()}});
  const auto verdict =
      gate.pass(is_event ? *std::move(event) : read_of(path, text),
                static_cast<std::size_t>(world.settings.integer("evidence.max_field_kb")) << 10);
  if (const auto* refusal = std::get_if<gate::Refusal>(&verdict)) {
    out.set("outcome", refusal->outcome);
    out.set("reason", refusal->reason);
  } else if (std::get<gate::Gate::Passed>(verdict).is_private) {
    out.set("outcome", name_of(store::EventOutcome::private_turn));
    out.set("reason", "the prompt is private: its turn is not captured");
  }
  out.set("private_text", gate.clean(bytes, gate::Way::bad_file).find("[private]") != std::string::npos);
  out.set("secrets", findings_json(gate.secrets().find(text, env_file), text));
  out.set("placeholders", findings_json(gate::placeholders(text), text));
  return out;
}

static Result<Json> policy_explain(World& world, const Args& args) {
  constexpr std::size_t kMostBytes = 64u << 20;
  const std::string file = args.text("file");
  return explain(world, file, TRY(os::read_file(world.disk, file, kMostBytes).in("policy")));
}

std::vector<Operation> policy_operations() {
  return {{.name = "policy.explain",
           .access = Access::read_slowly,
           .group = Group::privacy,
           .summary = "what the gate would do with an event or a text, and by which rule",
           .help =
               "FILE holds an event as the host sends it; any other file is taken as one that a tool reads. "
               "Secrets are named by kind, line and fingerprint, never shown. This is also how rules in "
               "capture.secrets are tried.",
           .arguments = {path("file", "the file to look at").as("FILE").word().needed()},
           .body = policy_explain}};
}

}  // namespace cairn::ops
