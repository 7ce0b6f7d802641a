// Checks that Claude Code calls our hook exactly once, and that the hook works.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.h"
#include "cli/doctor.h"
#include "cli/host_version.h"
#include "cli/install.h"
#include "cli/stage.h"
#include "hook/envelope.h"
#include "os/lock.h"

namespace cairn::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::size_t kMaxSettings = 8 << 20;
constexpr std::string_view kHostGroup = "Claude Code";

std::optional<std::string> on_path(std::string_view program) {
  const char* path = std::getenv("PATH");
  for (const std::string_view directory : split(path ? path : "", ':')) {
    const std::string file = fmt::format("{}/{}", directory, program);
    if (!directory.empty() && access(file.c_str(), X_OK) == 0) return file;
  }
  return std::nullopt;
}

// A JSON file of the host; null when there is none.
Result<Json> read_json(os::Disk& disk, const std::string& file) {
  auto text = os::read_file(disk, file, kMaxSettings);
  if (!text && text.error().code == Code::not_found) return Json();
  if (!text) return std::move(text).error();
  if (trim(*text).empty()) return Json();
  return Json::parse(*text).in(file);
}

void add_hooks(HostHooks& host, const Json& hooks) {
  for (const auto& [event, groups] : hooks.members())
    for (const Json& group : groups.items())
      for (const Json& hook : group["hooks"].items()) {
        if (!is_our_hook(hook)) continue;
        ++host.by_event[event];
        const std::string program = program_of_hook(hook);
        if (std::find(host.programs.begin(), host.programs.end(), program) == host.programs.end())
          host.programs.push_back(program);
      }
}

void add_plugins(HostHooks& host, os::Disk& disk, const Json& settings) {
  const std::string list =
      fs::path(host.settings_file).parent_path().string() + "/plugins/installed_plugins.json";
  const Json installed = read_json(disk, list).value_or(Json());
  for (const auto& [name, entry] : installed["plugins"].members())
    if (name.starts_with("cairn@") && settings["enabledPlugins"][name].as_bool(true))
      host.plugins.push_back(name);
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string absent() {
  return "no Claude Code here: `cairn install` registers the hooks once it is";
}

Finding check_hooks(Installation& here) {
  const HostHooks& host = here.host;
  if (!host.present) return skipped(absent());
  if (!host.problem.empty()) return failed(host.problem, "correct the file by hand, then cairn install");
  if (!host.in_settings())
    return host.plugins.empty() ? failed(fmt::format("none of {} events is registered in {}",
                                                     registered_events().size(), host.settings_file),
                                         "cairn install")
                                : passed("registered by the plugin " + joined(host.plugins));
  std::vector<std::string> missing, twice;
  for (const std::string& event : registered_events())
    if (!host.by_event.contains(event)) missing.push_back(event);
  for (const auto& [event, count] : host.by_event)
    if (count > 1) twice.push_back(event);
  if (!missing.empty())
    return failed(fmt::format("not registered in {}: {}", host.settings_file, joined(missing)),
                  "cairn install");
  if (!twice.empty())
    return failed(fmt::format("registered more than once in {}: {}", host.settings_file, joined(twice)),
                  "cairn install");
  return passed(fmt::format("{} events, once each, in {}", registered_events().size(), host.settings_file));
}

Finding check_enabled(Installation& here) {
  if (!here.host.present) return skipped(absent());
  if (!here.host.disabled_in.empty())
    return failed("all hooks are switched off by disableAllHooks in " + joined(here.host.disabled_in),
                  "remove \"disableAllHooks\" from that file");
  return passed("no settings file switches hooks off");
}

Finding check_once(Installation& here) {
  const HostHooks& host = here.host;
  if (!host.present) return skipped(absent());
  if (host.plugins.empty()) return passed("no plugin of cairn beside the settings");
  if (!host.in_settings()) return passed("the plugin alone");
  return failed(fmt::format("registered twice: by the plugin {} and in {}; events count once, but each "
                            "costs two hooks",
                            joined(host.plugins), host.settings_file),
                "claude plugin uninstall " + host.plugins[0]);
}

// The hook programs that the host runs. The plugin's wrapper searches PATH, then ~/.local/bin.
std::vector<std::string> hook_programs(const HostHooks& host) {
  if (!host.programs.empty()) return host.programs;
  if (host.plugins.empty()) return {hook_beside_me()};
  if (const auto found = on_path("cairn-hook")) return {*found};
  const char* home = std::getenv("HOME");
  return {fmt::format("{}/.local/bin/cairn-hook", home ? home : "")};
}

// `cairn install` registers the cairn-hook beside this program, so it helps only if that exists.
std::string fix_for_program(const HostHooks& host) {
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
    if (!says->starts_with("cairn-hook " CAIRN_VERSION ":"))
      return failed(fmt::format("{} is of another version than this cairn {}: {}", program, CAIRN_VERSION,
                                one_line(visible(valid_utf8(*says)), 60)),
                    fix_for_program(here.host));
  }
  return passed(fmt::format("{} {}", joined(programs), CAIRN_VERSION));
}

Result<std::string> deliver_one(Installation& here, const std::string& program) {
  const ScratchDir scratch = TRY(ScratchDir::make());
  const hook::Home home = hook::Home::at(scratch.path());
  // Hold the lock, so that the hook starts no daemon.
  const os::FileLock lock = TRY(os::FileLock::acquire(home.lock()));
  Stage stage(home, program, scratch.path() + "/project", here.shell.clock());
  const std::int64_t begin = here.shell.clock().boot_ns();
  TRY(stage.send("PostToolUse", "doctor", Json::object({{"tool_name", "Doctor"}})));
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

}  // namespace

HostHooks HostHooks::look(Shell& shell) {
  HostHooks host;
  auto file = claude_settings_file();
  if (!file) {
    host.problem = file.error().message;
    return host;
  }
  host.settings_file = *file;
  std::error_code error;
  host.present = on_path("claude").has_value() || fs::is_directory(fs::path(*file).parent_path(), error);
  auto settings = read_json(shell.disk(), *file);
  if (!settings) host.problem = settings.error().message;
  const Json user = std::move(settings).value_or(Json());
  add_hooks(host, user["hooks"]);
  add_plugins(host, shell.disk(), user);
  const std::string project = shell.directory() + "/.claude/settings";
  for (const std::string& each : {*file, project + ".json", project + ".local.json"})
    if (read_json(shell.disk(), each).value_or(Json())["disableAllHooks"].as_bool())
      host.disabled_in.push_back(each);
  return host;
}

std::vector<Check> host_checks() {
  return {{kHostGroup, "hooks", check_hooks},
          {kHostGroup, "enabled", check_enabled},
          {kHostGroup, "once", check_once},
          {kHostGroup, "program", check_program},
          {kHostGroup, "delivery", check_delivery}};
}

}  // namespace cairn::cli
