#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "store/states.h"

namespace cairn::cli {

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

Page policy_page(Shell& shell, const Json&, const Json& report) {
  const std::string_view outcome = report["outcome"].as_string();
  const bool stored = outcome == name_of(store::EventOutcome::stored);
  Facts facts;
  facts.add("read as", shown_line(report["as"].as_string()));
  const auto& secrets = report["secrets"].items();
  const std::string removed = stored && !secrets.empty()
                                  ? ", " + count_text(std::ssize(secrets), "secret", "secrets") + " removed"
                                  : "";
  facts.add("outcome", std::string(outcome) + removed, stored ? Style::good : Style::warn);
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
  return {facts.text(shell.screen())};
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
