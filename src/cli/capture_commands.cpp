#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/commands.h"
#include "gate/env_lines.h"
#include "gate/gate.h"
#include "host/host.h"
#include "ops/policy.h"
#include "ops/settings.h"

namespace cairn::cli {

namespace {

constexpr std::size_t kMaxFile = 64u << 20;

// `findings` are in order: each line is counted once.
Json findings_json(const std::vector<gate::Finding>& findings, std::string_view text) {
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

// What a host says when a tool has read the file.
event::Event read_of(const std::string& path, const std::string& text) {
  event::Event event;
  event.name = "PostToolUse";
  event.kind = event::Kind::tool;
  event.tool_name = "Read";
  event.tool_input = Json::object({{"file_path", path}});
  event.tool_response = Json::object({{"file", Json::object({{"filePath", path}, {"content", text}})}});
  return event;
}

// What the gate does with the file's content: as an event when it is one, else as a file that a tool reads.
Json explain(Shell& shell, const std::string& path, const std::string& bytes) {
  const ops::Settings settings = ops::Settings::load(shell.disk(), shell.home());
  const std::string key = os::read_file(shell.disk(), shell.home().key(), 64).value_or("");
  const gate::Gate gate(ops::gate_rules(shell.disk(), settings, key));
  hook::Envelope envelope;
  envelope.wall_ns = shell.clock().wall_ns();
  if (const auto parsed = Json::parse(bytes)) envelope.event = parsed->text("hook_event_name").value_or("");
  Result<event::Event> event = Error{Code::invalid, "no event"};
  if (!envelope.event.empty())
    event = host::find_host(envelope.host).read_event(EventId{std::string(32, '0')}, envelope, bytes);
  const std::string text = valid_utf8(bytes);
  const bool env_file = !event && gate::is_env_file(path);
  Json out = Json::object({{"as", event      ? envelope.event
                                  : env_file ? ".env file"
                                             : "text"},
                           {"outcome", "stored"},
                           {"reason", Json()}});
  const auto verdict = gate.pass(event ? *std::move(event) : read_of(path, text),
                                 static_cast<std::size_t>(settings.integer("evidence.max_field_kb")) << 10);
  if (const auto* refusal = std::get_if<gate::Refusal>(&verdict)) {
    out.set("outcome", refusal->outcome);
    out.set("reason", refusal->reason);
  } else if (std::get<gate::Gate::Passed>(verdict).muted) {
    out.set("outcome", "private");
    out.set("reason", "the prompt is private: its turn is not captured");
  }
  out.set("private_text", gate.clean(bytes, gate::Way::bad_file).find("[private]") != std::string::npos);
  out.set("secrets", findings_json(gate.secrets().find(text, env_file), text));
  out.set("placeholders", findings_json(gate::placeholders(text), text));
  return out;
}

}  // namespace

Page capture_page(Shell& shell, const Json&, const Json& state) {
  const bool on = state["enabled"].as_bool(), here = state["captured"].as_bool();
  Facts facts;
  facts.add("capture", on ? "on" : "off: hooks deliver nothing", on ? Style::good : Style::warn);
  facts.add("this directory",
            here ? "captured" : shown_line("not captured: " + std::string(state["reason"].as_string())),
            here ? Style::good : Style::warn);
  for (const Json& project : state["projects_off"].items()) facts.add("off", shown_line(project.as_string()));
  return {facts.text(shell.screen())};
}

Result<int> policy_explain(Shell& shell) {
  const std::string& name = shell.line().words[0];
  const std::string path = name.starts_with('/') ? name : shell.directory() + "/" + name;
  const std::string bytes = TRY(os::read_file(shell.disk(), path, kMaxFile).in("policy"));
  const Json report = explain(shell, path, bytes);
  if (shell.json()) {
    shell.print_json(report);
    return 0;
  }
  const std::string_view outcome = report["outcome"].as_string();
  Facts facts;
  facts.add("read as", shown_line(report["as"].as_string()));
  const auto& secrets = report["secrets"].items();
  const std::string removed = outcome == "stored" && !secrets.empty()
                                  ? ", " + count_text(std::ssize(secrets), "secret", "secrets") + " removed"
                                  : "";
  facts.add("outcome", std::string(outcome) + removed, outcome == "stored" ? Style::good : Style::warn);
  if (report["reason"].is_string()) facts.add("because", shown_line(report["reason"].as_string()));
  if (report["private_text"].as_bool()) facts.add("private text", "removed", Style::warn);
  if (secrets.empty()) facts.add("secrets", "none");
  constexpr std::size_t kShown = 50;
  for (std::size_t i = 0; i < std::min(secrets.size(), kShown); ++i)
    facts.add(fmt::format("line {}", secrets[i]["line"].as_int()),
              fmt::format("{} ({})", secrets[i]["kind"].as_string(), secrets[i]["fingerprint"].as_string()),
              Style::warn);
  if (secrets.size() > kShown)
    facts.add("more", fmt::format("{}; --json lists them all", secrets.size() - kShown));
  const auto& placeholders = report["placeholders"].items();
  for (std::size_t i = 0; i < std::min(placeholders.size(), kShown); ++i)
    facts.add(fmt::format("line {}", placeholders[i]["line"].as_int()), "looks like a placeholder: kept");
  shell.print(facts.text(shell.screen()));
  return 0;
}

Page scan_page(Shell& shell, const Json&, const Json& report) {
  const auto& findings = report["findings"].items();
  Table table({{"where"}, {"row", true}, {"column"}, {"kind"}, {"fingerprint"}, {"times", true}});
  for (const Json& finding : findings)
    table.add({std::string(finding["place"].as_string()),
               std::to_string(finding["row"].as_int()),
               std::string(finding["column"].as_string()),
               {std::string(finding["kind"].as_string()), Style::warn},
               std::string(finding["fingerprint"].as_string()),
               std::to_string(finding["count"].as_int())});
  const std::string sum =
      fmt::format("{} in {} ({})\n",
                  findings.empty() ? "no secret" : count_text(std::ssize(findings), "secret", "secrets"),
                  count_text(report["texts"].as_int(), "text", "texts"), size_text(report["bytes"].as_int()));
  return {(table.empty() ? "" : table.text(shell.screen()) + "\n") + sum, findings.empty() ? 0 : 1};
}

}  // namespace cairn::cli
