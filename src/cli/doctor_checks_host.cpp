// Checks that the coding agent calls our hook exactly once, and that the hook works.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/shell.h"
#include "base/text.h"
#include "cli/doctor.h"
#include "cli/program.h"
#include "cli/stage.h"
#include "hook/envelope.h"
#include "host/host.h"
#include "os/lock.h"

namespace cairn::cli {

namespace {

using namespace std::chrono_literals;

std::string listed(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string absent() {
  return fmt::format("no {} here: `cairn install` registers the hooks once it is",
                     host::default_host().title());
}

Finding check_hooks(Installation& here) {
  const host::Registration& host = here.host;
  if (!host.present) return skipped(absent());
  if (!host.problem.empty()) return failed(host.problem, "correct the file by hand, then cairn install");
  if (!host.in_settings())
    return host.plugins.empty()
               ? failed(fmt::format("none of {} events is registered in {}",
                                    host::default_host().hooks().events().size(), host.settings_file),
                        "cairn install")
               : passed("registered by the plugin " + listed(host.plugins));
  std::vector<std::string> missing, twice;
  for (const std::string& event : host::default_host().hooks().events())
    if (!host.by_event.contains(event)) missing.push_back(event);
  for (const auto& [event, count] : host.by_event)
    if (count > 1) twice.push_back(event);
  if (!missing.empty())
    return failed(fmt::format("not registered in {}: {}", host.settings_file, listed(missing)),
                  "cairn install");
  if (!twice.empty())
    return failed(fmt::format("registered more than once in {}: {}", host.settings_file, listed(twice)),
                  "cairn install");
  return passed(fmt::format("{} events, once each, in {}", host::default_host().hooks().events().size(),
                            host.settings_file));
}

Finding check_enabled(Installation& here) {
  if (!here.host.present) return skipped(absent());
  if (!here.host.disabled_in.empty())
    return failed("all hooks are switched off by disableAllHooks in " + listed(here.host.disabled_in),
                  "remove \"disableAllHooks\" from that file");
  return passed("no settings file switches hooks off");
}

Finding check_once(Installation& here) {
  const host::Registration& host = here.host;
  if (!host.present) return skipped(absent());
  if (host.plugins.empty()) return passed("no plugin of cairn beside the settings");
  if (!host.in_settings()) return passed("the plugin alone");
  return failed(fmt::format("registered twice: by the plugin {} and in {}; events count once, but each "
                            "costs two hooks",
                            listed(host.plugins), host.settings_file),
                host::default_host().hooks().uninstall_command(host.plugins[0]));
}

// The hook programs that the host runs. The plugin's wrapper searches PATH, then ~/.local/bin.
std::vector<std::string> hook_programs(const host::Registration& host) {
  if (!host.programs.empty()) return host.programs;
  if (host.plugins.empty()) return {hook_beside_me()};
  if (std::string found = os::find_program("cairn-hook"); !found.empty()) return {std::move(found)};
  const char* home = std::getenv("HOME");
  return {fmt::format("{}/.local/bin/cairn-hook", home ? home : "")};
}

// `cairn install` registers the cairn-hook beside this program, so it helps only if that exists.
std::string fix_for_program(const host::Registration& host) {
  const bool there = access(hook_beside_me().c_str(), X_OK) == 0;
  return there && host.plugins.empty() ? "cairn install"
                                       : "install cairn again: ./setup in its source directory";
}

Finding check_program(Installation& here) {
  const std::vector<std::string> programs = hook_programs(here.host);
  for (const std::string& program : programs) {
    if (access(program.c_str(), F_OK) != 0)
      return failed(program + " is not there: nothing is recorded", fix_for_program(here.host));
    if (access(program.c_str(), X_OK) != 0)
      return failed(program + " cannot be executed", fmt::format("chmod 755 {}", shell_word(program)));
    const auto says = version_of(program, 5s);
    if (!says)
      return failed(program + " does not run", "install cairn again: ./setup in its source directory");
    // Hook and daemon share the format of the inbox and the protocol of the socket.
    if (!says->starts_with("cairn-hook " CAIRN_VERSION ":"))
      return failed(fmt::format("{} is of another version than this cairn {}: {}", program, CAIRN_VERSION,
                                one_line(visible(valid_utf8(*says)), 60)),
                    fix_for_program(here.host));
  }
  return passed(fmt::format("{} {}", listed(programs), CAIRN_VERSION));
}

// Sends an event through the real hook to a temporary home and reads it back from the inbox.
Result<std::string> deliver_one(Installation& here, const std::string& program) {
  const ScratchDir scratch = TRY(ScratchDir::make());
  const hook::Home home = hook::Home::at(scratch.path());
  // Hold the lock, so that the hook starts no daemon.
  const os::FileLock lock = TRY(os::FileLock::acquire(home.lock()));
  Stage stage(home, program, scratch.path() + "/project", here.shell.clock());
  const std::int64_t begin = here.shell.clock().boot_ns();
  event::Event event = event_of(event::Kind::tool, "doctor");
  event.tool_name = "Doctor";
  TRY(stage.send(std::move(event)));
  const double ms = static_cast<double>(here.shell.clock().boot_ns() - begin) / 1e6;
  const auto files = TRY(here.shell.disk().list(home.inbox() + "/new"));
  if (files.size() != 1)
    return Error{Code::internal, fmt::format("{} files in the inbox instead of one", files.size())};
  const std::string file = TRY(os::read_file(here.shell.disk(), home.inbox() + "/new/" + files[0], 1 << 20));
  const auto decoded = TRY(hook::Envelope::decode(file));
  if (decoded.payload.find("\"Doctor\"") == std::string_view::npos)
    return Error{Code::corrupt, "the file in the inbox differs from what was sent"};
  return fmt::format("a test event arrived intact in a temporary inbox in {:.1f} ms", ms);
}

Finding check_delivery(Installation& here) {
  const std::string program = hook_programs(here.host)[0];
  auto done = deliver_one(here, program);
  if (done) return passed(*std::move(done));
  return failed(done.error().message, fix_for_program(here.host));
}

// Starts the server and lets it list its tools, as the host does.
Result<std::size_t> tools_of(const std::string& program) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable; ++variable) environment.emplace_back(*variable);
  const Ran ran = TRY(run_program({program, "mcp"}, environment,
                                  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n", 5s));
  const auto reply = Json::parse(ran.out);
  if (ran.exit_code != 0 || !reply || (*reply)["result"]["tools"].items().empty())
    return Error{Code::internal, program + " mcp lists no tools"};
  return (*reply)["result"]["tools"].items().size();
}

Finding check_tools(Installation& here) {
  const host::Registration& host = here.host;
  if (!host.present) return skipped(absent());
  if (!host.servers_problem.empty())
    return failed(fmt::format("{}: {}", host.servers_file, host.servers_problem),
                  "correct the file by hand, then cairn install");
  if (host.server.empty() && !host.in_settings() && !host.plugins.empty())
    return passed("registered by the plugin " + listed(host.plugins));
  if (host.server.empty())
    return failed("the agent's tools are not registered in " + host.servers_file, "cairn install");
  const auto tools = tools_of(host.server);
  if (!tools) return failed(tools.error().message, "cairn install");
  const std::size_t free = host::default_host().hooks().allowed_tools().size();
  const std::string found = fmt::format("{} tools in {}", *tools, host.servers_file);
  if (host.allowed < free && host.in_settings())
    return warned(
        fmt::format("{}; {} of {} that only read ask for a permission", found, free - host.allowed, free),
        "cairn install");
  return passed(fmt::format("{}; those that only read need no permission", found));
}

}  // namespace

host::Registration look_at_host(Shell& shell) {
  return host::default_host().hooks().look(shell.disk(), shell.directory());
}

std::vector<Check> host_checks() {
  const std::string_view group = host::default_host().title();
  return {{group, "hooks", check_hooks},       {group, "enabled", check_enabled},
          {group, "once", check_once},         {group, "program", check_program},
          {group, "delivery", check_delivery}, {group, "tools", check_tools}};
}

}  // namespace cairn::cli
