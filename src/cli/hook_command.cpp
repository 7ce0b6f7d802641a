#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "cli/commands.h"
#include "context/answer.h"
#include "gate/gate.h"
#include "hook/control.h"
#include "hook/envelope.h"
#include "hook/inbox.h"
#include "hook/run.h"
#include "host/host.h"
#include "intake/place.h"
#include "ops/policy.h"
#include "ops/settings.h"
#include "store/states.h"

// `cairn hook EVENT --dry-run`: runs the steps that an event passes from the hook to the store, with the same
// functions, in this process, and prints what each of them would do. Nothing is written and no daemon starts.

namespace cairn::cli {

using store::EventOutcome;

namespace {

constexpr std::size_t kScreenful = 1200;  // bytes of a field that are shown

const host::Host& host_of(const Shell& shell) {
  return host::find_host(shell.args()["host"].as_string());
}

hook::Envelope envelope_of(Shell& shell) {
  hook::Envelope envelope;
  envelope.event = shell.args().text("event").value_or(envelope.event);
  envelope.host = shell.args()["host"].as_string(hook::kDefaultHost);
  envelope.wall_ns = shell.clock().wall_ns();
  envelope.boot_ns = shell.clock().boot_ns();
  envelope.boot_id = shell.clock().boot_id();
  envelope.read_variables();
  return envelope;
}

// Why a hook would deliver nothing; empty when it would deliver.
std::string why_silent(const ops::Settings& settings) {
  const char* disabled = std::getenv("CAIRN_DISABLE");
  if (disabled && *disabled && disabled != std::string_view("0")) return "CAIRN_DISABLE is set";
  return settings.flag("capture.enabled") ? "" : "capture.enabled is false";
}

Json fields_of(const event::Event& event) {
  Json fields = Json::object();
  const auto text = [&](const char* key, std::string_view value) {
    if (!value.empty()) fields.set(key, value);
  };
  const auto value = [&](const char* key, const Json& json) {
    if (!json.is_null() && !(json.is_object() && json.members().empty())) fields.set(key, json);
  };
  text("cwd", event.cwd);
  text("transcript_path", event.transcript_path);
  text("prompt_id", event.prompt_id.value_or(""));
  text("agent_id", event.agent_id.value_or(""));
  text("agent_type", event.agent_type.value_or(""));
  text("prompt", event.prompt);
  text("tool_name", event.tool_name.value_or(""));
  text("tool_use_id", event.tool_use_id.value_or(""));
  value("tool_input", event.tool_input);
  value("tool_response", event.tool_response);
  text("error", event.error);
  text("last_assistant_message", event.last_assistant_message);
  text("reason", event.reason);
  value("extra", event.extra);
  return fields;
}

// What would become of the event: the outcome and, if it would be stored, its fields behind the gate.
Json describe(Shell& shell, const ops::Settings& settings, std::string_view payload) {
  Json out = Json::object({{"outcome", name_of(EventOutcome::stored)}, {"reason", Json()}});
  const auto refuse = [&](std::string_view outcome, std::string_view reason) {
    out.set("outcome", outcome);
    out.set("reason", reason);
    return out;
  };
  auto event = host_of(shell).read_event(EventId{std::string(32, '0')}, envelope_of(shell), payload);
  if (!event) return refuse(name_of(EventOutcome::bad), event.error().message);
  const store::Place place = intake::resolve_place(shell.disk(), event->project_dir, event->cwd);
  out.set("event", event->name);
  out.set("kind", event::kind_name(event->kind));
  out.set("session", event->session.value);
  out.set("project", place.name);
  out.set("project_key", place.key);
  out.set("branch", place.branch);
  out.set("incomplete", event->incomplete);
  if (const std::string silent = why_silent(settings); !silent.empty())
    return refuse("not delivered", silent);
  // Without a key yet, fingerprints of secrets differ from those that will be stored.
  const std::string key = os::read_file(shell.disk(), shell.home().key(), 64).value_or("");
  const gate::Gate gate(ops::gate_rules(shell.disk(), settings, key));
  auto verdict =
      gate.pass(*std::move(event), static_cast<std::size_t>(settings.integer("evidence.max_field_kb")) << 10);
  if (const auto* refusal = std::get_if<gate::Refusal>(&verdict))
    return refuse(refusal->outcome, refusal->reason);
  const auto& passed = std::get<gate::Gate::Passed>(verdict);
  if (passed.is_private)
    refuse(name_of(EventOutcome::private_turn), "the prompt is private: its turn is not captured");
  out.set("redacted", passed.redacted);
  out.set("secrets", passed.secrets);
  out.set("fields", fields_of(*passed.event));
  return out;
}

// The answer that the event would get from the running daemon. Null: the hook prints nothing.
Json answer_of(Shell& shell, const ops::Settings& settings, const Json& event) {
  const std::string name(event["event"].as_string());
  const host::Host& host = host_of(shell);
  const hook::EventRule rule = hook::rule_of(host.name(), name);
  const Json fixed = Json::parse(rule.answer).value_or(Json());
  if (rule.asks != hook::EventRule::Asks::context || !event.has("fields")) return fixed;
  const event::StartReason reason = event::start_reason(event["fields"]["reason"].as_string());
  if (!context::allows(settings.list("context.sources"), reason)) return fixed;
  auto client = Client::connect(shell.home(), shell.clock());  // starts none
  if (!client) return fixed;
  const auto context = client->call("context", Json::object({{"cwd", event["fields"]["cwd"]}}));
  if (!context || (*context)["text"].as_string().empty()) return fixed;
  return host.write_answer(name, (*context)["text"].as_string(), "");
}

std::string field_text(const Json& value) {
  return cut(shown(value.is_string() ? value.as_string() : value.dump(2)), kScreenful);
}

void print_report(Shell& shell, const Json& report) {
  const Screen& screen = shell.screen();
  const Json& event = report["event"];
  const std::string_view outcome = event["outcome"].as_string();
  Facts facts;
  facts.add("outcome", std::string(outcome),
            outcome == name_of(EventOutcome::stored) ? Style::good : Style::warn);
  for (const auto& [label, key] :
       {std::pair("because", "reason"), std::pair("event", "event"), std::pair("kind", "kind"),
        std::pair("session", "session"), std::pair("project", "project"), std::pair("branch", "branch")})
    if (const auto text = event.text(key); text && !text->empty()) facts.add(label, *text);
  if (event["redacted"].as_bool()) facts.add("redacted", "private text was removed", Style::warn);
  if (event["secrets"].as_int() > 0)
    facts.add("secrets", fmt::format("{} removed", event["secrets"].as_int()), Style::warn);
  if (event["incomplete"].as_bool())
    facts.add("incomplete", "the payload broke off or was too large", Style::warn);
  shell.print(screen.paint(Style::bold, "Would be stored") + "\n" + facts.text(screen));
  for (const auto& [key, value] : event["fields"].members())
    shell.print("\n" + screen.paint(Style::accent, key) + "\n" +
                wrap(field_text(value), screen.text_width(), 2));
  const Json& answer = report["answer"];
  shell.print("\n" + screen.paint(Style::bold, "Would be answered") + "\n");
  const std::string_view context = host_of(shell).context_in(answer);
  shell.print(context.empty() ? wrap(answer.dump(), screen.text_width(), 2)
                              : wrap(shown(context), screen.text_width(), 2));
}

}  // namespace

// Delivers the event. Reached only when a global option comes before `hook`: run() passes all other calls
// without --dry-run to hook::run() itself.
static int deliver(Shell& shell) {
  std::vector<std::string> words = {"cairn-hook"};
  if (const auto host = shell.args().text("host")) words.insert(words.end(), {"--host", *host});
  if (const auto event = shell.args().text("event")) words.push_back(*event);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return hook::run(shell.disk(), static_cast<int>(argv.size()), argv.data());
}

Result<int> hook_command(Shell& shell) {
  if (!shell.flag("dry_run")) return deliver(shell);
  if (isatty(STDIN_FILENO) == 1)
    return Error{Code::invalid,
                 "hook: reads the host's JSON on stdin: `cairn hook EVENT --dry-run < event.json`"};
  const std::string payload = TRY(all_of_stdin("hook", hook::kMaxPayload));
  const ops::Settings settings = ops::Settings::load(shell.disk(), shell.home());
  const Json event = describe(shell, settings, payload);
  const Json report = Json::object({{"event", event}, {"answer", answer_of(shell, settings, event)}});
  if (shell.json())
    shell.print_json(report);
  else
    print_report(shell, report);
  return event["outcome"].as_string() == name_of(EventOutcome::bad) ? 2 : 0;
}

}  // namespace cairn::cli
