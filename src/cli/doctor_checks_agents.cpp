// Checks the other coding agents that are here: that our hooks and the MCP server are registered, that the
// hook's program is there, and that the user approved the hooks where the agent asks for that.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/program.h"
#include "cli/stage.h"
#include "host/host.h"

namespace cairn::cli {

namespace {

std::string install_line(const host::Host& host) {
  return fmt::format("cairn install --host {}", host.name());
}

Finding check_files(Installation& here, const host::Host& host) {
  std::vector<std::string> missing, there;
  for (const host::SettingsFile* file : host.files()) {
    const auto path = file->settings_file();
    if (!path) return failed(path.error().message, "set HOME and try again");
    const std::string text = os::read_file(here.shell.disk(), *path, 8u << 20).value_or("");
    const std::string shown = fmt::format("{} in {}", file->what(), *path);
    // Up to date: what we would write equals the file. Whether the entry is in the exec form is not judged:
    // we compare with the form that it has.
    const auto program = file->program_in(text);
    const bool is_there =
        file->count(text) > 0 && program && *program &&
        file->with_ours(text, {hook_beside_me(), (*program)->exec_form}).value_or("") == text;
    (is_there ? there : missing).push_back(shown);
  }
  if (there.empty()) return failed("nothing is registered: this agent is not remembered", install_line(host));
  if (!missing.empty())
    return failed(fmt::format("missing or of another cairn: {}", fmt::join(missing, ", ")),
                  install_line(host));
  return passed(fmt::format("{}", fmt::join(there, ", ")));
}

Finding check_consent(Installation& here, const host::Host& host) {
  const host::Registration found = host.hooks().look(here.shell.disk(), here.shell.directory());
  if (!found.in_settings()) return skipped("no hooks are registered");
  if (found.consent.empty()) return passed("you approved the hooks in " + std::string(host.title()));
  return warned(found.consent, fmt::format("start {} and approve the hooks", host.hooks().command()));
}

Finding check_agent_program(Installation& here, const host::Host& host) {
  const host::Registration found = host.hooks().look(here.shell.disk(), here.shell.directory());
  for (const std::string& program : found.programs)
    if (access(program.c_str(), X_OK) != 0)
      return failed(program + " cannot be executed: nothing is recorded", install_line(host));
  if (found.programs.empty()) return skipped("no hooks are registered");
  return passed(fmt::format("{}", fmt::join(found.programs, ", ")));
}

}  // namespace

std::vector<Check> agent_checks(Shell& shell) {
  std::vector<Check> checks;
  for (const host::Host* host : host::hosts()) {
    if (host == &host::default_host() || host->files().empty()) continue;
    const host::Registration found = host->hooks().look(shell.disk(), shell.directory());
    if (!found.present && !found.in_settings()) continue;
    checks.push_back(
        {host->title(), "hooks", [host](Installation& here) { return check_files(here, *host); }});
    checks.push_back(
        {host->title(), "program", [host](Installation& here) { return check_agent_program(here, *host); }});
    if (host->traits().needs_consent)
      checks.push_back(
          {host->title(), "approval", [host](Installation& here) { return check_consent(here, *host); }});
  }
  return checks;
}

}  // namespace cairn::cli
