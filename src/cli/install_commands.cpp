#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/completions.h"
#include "cli/diff.h"
#include "cli/host_version.h"
#include "cli/install.h"
#include "os/lock.h"
#include "os/owner.h"
#include "os/process.h"

namespace cairn::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// What a home holds. Purging names each: a CAIRN_HOME may be a directory with other things in it.
constexpr std::array kDataNames = {
    "cairn.db", "cairn.db-wal", "cairn.db-shm", "cairn.db-journal", "inbox",        "archive",    "logs",
    "key",      "hook.flags",   "http.token",   "daemon.sock",      "daemon.start", "daemon.lock"};

Status check_host(const Line& line) {
  const std::string host = line.value("--host").value_or("claude-code");
  if (host == "claude-code") return {};
  return Error{Code::invalid, fmt::format("{}: host \"{}\" is not supported yet: --host claude-code",
                                          line.command->name, fit(shown_line(host), 40))};
}

Result<std::string> hook_program(os::Disk& disk) {
  const std::string me = os::executable_path();
  const std::string path = me.substr(0, me.rfind('/') + 1) + "cairn-hook";
  if (disk.stat(path).ok() && access(path.c_str(), X_OK) == 0) return path;
  return Error{Code::internal,
               fmt::format("install: there is no cairn-hook at {}: install cairn again", path)};
}

std::string coloured_diff(const Screen& screen, const InstallPlan& plan) {
  std::string out;
  const std::string text = diff_text(plan.before, plan.removes ? "" : plan.after, plan.settings_file);
  for (const std::string_view line : lines(text)) {
    if (line.empty()) continue;
    const Style style = line.starts_with("+") ? Style::good : line.starts_with("-") ? Style::bad : Style::dim;
    out += screen.paint(line.starts_with(" ") ? Style::plain : style, shown(line)) + "\n";
  }
  return out;
}

Json plan_json(const InstallPlan& plan) {
  return Json::object({{"host", "claude-code"},
                       {"settings_file", plan.settings_file},
                       {"changed", plan.changes()},
                       {"diff", diff_text(plan.before, plan.removes ? "" : plan.after, plan.settings_file)}});
}

std::int64_t size_below(const std::string& path) {
  std::error_code error;
  std::int64_t total = 0;
  auto entry = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && !entry->is_symlink(ignored)) {
      const auto size = entry->file_size(ignored);
      if (!ignored) total += static_cast<std::int64_t>(size);
    }
  }
  return total;
}

// Deletes what cairn made, config.toml too. The lock is held meanwhile, so that no daemon starts on what is
// left.
Status purge(const hook::Home& home) {
  std::error_code error;
  if (!fs::exists(home.data, error)) return {};
  const os::FileLock lock =
      TRY(os::FileLock::acquire(home.lock()).in("purge: a daemon has just been started: try again"));
  std::vector<std::string> names(std::begin(kDataNames), std::end(kDataNames));
  for (const auto& entry : fs::directory_iterator(home.data, error))
    if (entry.path().filename().string().starts_with("cairn.db")) names.push_back(entry.path().filename());
  for (const std::string& name : names) {
    fs::remove_all(fs::path(home.data) / name, error);
    if (error)
      return Error{Code::denied,
                   fmt::format("purge: {}/{}: {}: remove it by hand", home.data, name, error.message())};
  }
  fs::remove(home.config_file, error);
  // Directories go when nothing else is in them.
  fs::remove(fs::path(home.config_file).parent_path(), error);
  fs::remove(home.data, error);
  return {};
}

void report_data(Shell& shell, std::int64_t bytes, bool purged) {
  const std::string& data = shell.home().data;
  std::error_code error;
  const bool left = fs::exists(data, error);
  if (purged && left)
    shell.print(
        fmt::format("deleted what was remembered; {} stays: other files are in it\n", shown_line(data)));
  else if (purged)
    shell.print(fmt::format("deleted {} ({})\n", shown_line(data), size_text(bytes)));
  else if (left)
    shell.print(fmt::format("kept what is remembered: {} in {}\n`cairn uninstall --purge` deletes it\n",
                            size_text(bytes), shown_line(data)));
}

}  // namespace

Result<int> install_command(Shell& shell) {
  TRY(check_host(shell.line()));
  const std::string program = TRY(hook_program(shell.disk()));
  const bool exec_form = takes_exec_form(version_of("claude", 5s));
  const std::string settings = TRY(claude_settings_file());
  const InstallPlan plan = TRY(plan_install(shell.disk(), settings, program, exec_form).in("install"));
  const bool dry = shell.line().has("--dry-run");
  if (!shell.json()) shell.print(coloured_diff(shell.screen(), plan));
  if (!dry && plan.changes()) TRY(apply_install(shell.disk(), plan).in("install"));
  if (!dry && shell.disk().stat(shell.home().data)) {
    TRY(shell.home().check().in("home"));
    TRY(os::close_to_others(shell.home().data));
  }
  if (shell.json()) {
    Json result = plan_json(plan);
    Json events = Json::array();
    for (const std::string& event : registered_events()) events.push(event);
    result.set("hook", program);
    result.set("exec_form", exec_form);
    result.set("events", events);
    result.set("dry_run", dry);
    shell.print_json(result);
    return 0;
  }
  const std::string file = shown_line(plan.settings_file);
  if (!plan.changes())
    shell.print(fmt::format("the hooks are registered in {} already: nothing to do\n", file));
  else if (dry)
    shell.print(fmt::format("\ndry run: {} was not changed\n", file));
  else
    shell.print(fmt::format(
        "\n{} registered in {}\nSessions that are open take them up when they are restarted.\n",
        count_text(static_cast<std::int64_t>(registered_events().size()), "hook", "hooks"), file));
  return 0;
}

Result<int> uninstall_command(Shell& shell) {
  TRY(check_host(shell.line()));
  const hook::Home& home = shell.home();
  const bool wants_purge = shell.line().has("--purge");
  const std::int64_t bytes = size_below(home.data);
  if (wants_purge && !TRY(shell.confirm(fmt::format("Delete everything that is remembered ({} in {})?",
                                                    size_text(bytes), home.data))))
    return Error{Code::canceled, "uninstall: not confirmed: nothing was changed"};
  const std::string settings = TRY(claude_settings_file());
  const InstallPlan plan = TRY(plan_uninstall(shell.disk(), settings).in("uninstall"));
  if (!shell.json()) shell.print(coloured_diff(shell.screen(), plan));
  // First the hooks: they would start the daemon again.
  if (plan.changes()) TRY(apply_install(shell.disk(), plan).in("uninstall"));
  const auto stopped = TRY(stop_daemon(home, shell.clock()));
  if (wants_purge) TRY(purge(home));
  const char* user_home = std::getenv("HOME");
  const auto removed = remove_generated(
      shell.disk(), generated_files(shell.disk(), user_home ? user_home : "", os::executable_path()));
  if (shell.json()) {
    Json result = plan_json(plan);
    result.set("daemon_stopped", stopped.has_value());
    result.set("purged", wants_purge);
    result.set("data", home.data);
    result.set("data_bytes", bytes);
    shell.print_json(result);
    return 0;
  }
  const std::string file = shown_line(plan.settings_file);
  shell.print(plan.changes() ? fmt::format("\nhooks removed from {}\n", file)
                             : fmt::format("no hooks of cairn in {}\n", file));
  if (stopped) shell.print("daemon stopped\n");
  for (const std::string& path : removed) shell.print(fmt::format("removed {}\n", shown_line(path)));
  report_data(shell, bytes, wants_purge);
  return 0;
}

}  // namespace cairn::cli
