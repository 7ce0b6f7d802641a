#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/shell.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/completions.h"
#include "cli/diff.h"
#include "cli/doctor.h"
#include "cli/install.h"
#include "cli/program.h"
#include "cli/stage.h"
#include "host/commands.h"
#include "host/host.h"
#include "os/lock.h"
#include "os/owner.h"
#include "os/process.h"

namespace cairn::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// The files of a home. Purging removes only these: CAIRN_HOME may contain other things.
constexpr std::array kDataNames = {
    "cairn.db", "cairn.db-wal", "cairn.db-shm", "cairn.db-journal", "inbox",        "archive",    "logs",
    "key",      "hook.flags",   "http.token",   "daemon.sock",      "daemon.start", "daemon.lock"};

Result<const host::Hooks*> hooks_of(const Line& line) {
  const host::Host& host = host::find_host(line.value("--host").value_or(""));
  const std::string name = line.value("--host").value_or(std::string(host.name()));
  if (host.name() == name) return &host.hooks();
  return Error{Code::invalid, fmt::format("{}: host \"{}\" is not supported yet: --host {}",
                                          line.command->name, fit(shown_line(name), 40), host.name())};
}

Result<std::string> hook_program(os::Disk& disk) {
  const std::string path = hook_beside_me();
  if (disk.stat(path).ok() && access(path.c_str(), X_OK) == 0) return path;
  return Error{
      Code::internal,
      fmt::format("install: there is no cairn-hook at {}: run ./setup in cairn's source directory", path)};
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

// "adds 17 hooks to FILE": what the plan will do.
std::string plan_text(const host::Hooks& hooks, const InstallPlan& plan) {
  const auto before = static_cast<std::int64_t>(hooks.count(plan.before)),
             after = static_cast<std::int64_t>(hooks.count(plan.after));
  const std::string file = shown_line(plan.settings_file);
  if (!plan.changes() && after > 0)
    return fmt::format("the hooks are registered in {} already: nothing to do\n", file);
  if (!plan.changes()) return fmt::format("no hooks of cairn in {}\n", file);
  if (plan.uninstall) return fmt::format("removes {} from {}\n", count_text(before, "hook", "hooks"), file);
  if (before == 0) return fmt::format("adds {} to {}\n", count_text(after, "hook", "hooks"), file);
  return fmt::format("updates the hooks in {}: {} before, {} now\n", file, before, after);
}

// Prints what will happen; with -v or --dry-run as a diff.
void print_plan(Shell& shell, const host::Hooks& hooks, const InstallPlan& plan) {
  if (shell.json()) return;
  shell.print(plan_text(hooks, plan));
  if (shell.line().has("--verbose") || shell.line().has("--dry-run"))
    shell.print(coloured_diff(shell.screen(), plan));
}

std::vector<GeneratedFile> generated_here(Shell& shell) {
  const char* home = std::getenv("HOME");
  if (!home || *home != '/') return {};
  return generated_files(shell.disk(), home, os::executable_path());
}

// Writes completions and the manual page again after an uninstall. Errors are ignored.
void restore_generated(Shell& shell) {
  const auto written = install_generated(shell.disk(), generated_here(shell));
  if (!written) shell.note("completions and manual page: " + written.error().message);
  if (written && !shell.json())
    for (const std::string& path : *written) shell.print(fmt::format("wrote {}\n", shown_line(path)));
}

// The commands that people type in the host. A file of that name that is not ours stays as it is.
Status install_commands(Shell& shell, const std::string& settings) {
  for (const host::CommandFile& file : host::command_files(host::default_host().name())) {
    const std::string path = fs::path(settings).parent_path() / file.path;
    const auto known = os::read_file(shell.disk(), path, 1u << 20);
    if (known && (*known == file.text || known->find(host::kCommandMark) == std::string::npos)) continue;
    TRY(write_file(shell.disk(), path, file.text));
    if (!shell.json()) shell.print(fmt::format("wrote {}\n", shown_line(path)));
  }
  return {};
}

std::vector<std::string> remove_commands(Shell& shell, const std::string& settings) {
  std::vector<std::string> removed;
  const fs::path top = fs::path(settings).parent_path();
  for (const host::CommandFile& file : host::command_files(host::default_host().name())) {
    const fs::path path = top / file.path;
    const auto known = os::read_file(shell.disk(), path.string(), 1u << 20);
    if (!known || known->find(host::kCommandMark) == std::string::npos || !shell.disk().remove(path.string()))
      continue;
    removed.push_back(path.string());
    // Directories are removed only when empty.
    std::error_code error;
    for (fs::path directory = path.parent_path(); directory != top && fs::remove(directory, error);)
      directory = directory.parent_path();
  }
  return removed;
}

Json plan_json(const InstallPlan& plan) {
  return Json::object({{"host", host::default_host().name()},
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

// Deletes cairn's files, config.toml too. Holds the lock meanwhile, so that no daemon starts.
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
  // Directories are removed only when empty.
  fs::remove(fs::path(home.config_file).parent_path(), error);
  fs::remove(home.data, error);
  return {};
}

// Says what uninstall leaves on the disk, and the command that removes it.
void report_what_stays(Shell& shell) {
  std::error_code error;
  const auto stays = [&](std::string_view what, const std::string& command) {
    shell.print(fmt::format("stays: {}; to remove: {}\n", what, command));
  };
  for (const std::string& plugin : look_at_host(shell).plugins)
    stays("the plugin " + shown_line(plugin), host::default_host().hooks().uninstall_command(plugin));
  std::string programs;
  for (const std::string& path : {os::executable_path(), hook_beside_me()})
    if (fs::exists(path, error)) programs += (programs.empty() ? "" : " ") + shell_word(path);
  stays("the programs", "rm " + programs);
  if (const auto demo = demo_home(); demo && fs::exists(*demo, error))
    stays(fmt::format("the demo ({})", size_text(size_below(*demo))), "rm -r " + shell_word(*demo));
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
    shell.print(fmt::format("stays: what is remembered ({} in {}); to remove: cairn uninstall --purge\n",
                            size_text(bytes), shown_line(data)));
}

}  // namespace

Result<int> install_command(Shell& shell) {
  const host::Hooks& hooks = *TRY(hooks_of(shell.line()));
  const std::string program = TRY(hook_program(shell.disk()));
  const bool exec_form = hooks.takes_exec_form(version_of(hooks.command(), 5s));
  const std::string settings = TRY(hooks.settings_file());
  const InstallPlan plan =
      TRY(plan_install(hooks, shell.disk(), settings, {program, exec_form}).in("install"));
  const bool dry = shell.line().has("--dry-run");
  print_plan(shell, hooks, plan);
  if (!dry && plan.changes()) TRY(apply_install(shell.disk(), plan).in("install"));
  if (!dry && shell.disk().stat(shell.home().data)) {
    TRY(shell.home().check().in("home"));
    TRY(os::close_to_others(shell.home().data));
  }
  if (!dry) restore_generated(shell);
  if (!dry) TRY(install_commands(shell, settings).in("install"));
  if (shell.json()) {
    Json result = plan_json(plan);
    Json events = Json::array();
    for (const std::string& event : hooks.events()) events.push(event);
    result.set("hook", program);
    result.set("exec_form", exec_form);
    result.set("events", events);
    result.set("dry_run", dry);
    shell.print_json(result);
    return 0;
  }
  if (dry)
    shell.print("dry run: nothing was changed\n");
  else if (plan.changes())
    shell.print("Open sessions use them after a restart.\n");
  return 0;
}

Result<int> uninstall_command(Shell& shell) {
  const host::Hooks& hooks = *TRY(hooks_of(shell.line()));
  const hook::Home& home = shell.home();
  const bool wants_purge = shell.line().has("--purge");
  const std::int64_t bytes = size_below(home.data);
  const bool dry = shell.line().has("--dry-run");
  if (wants_purge && !dry &&
      !TRY(shell.confirm(
          fmt::format("Delete everything that is remembered ({} in {})?", size_text(bytes), home.data))))
    return Error{Code::canceled, "uninstall: not confirmed: nothing was changed"};
  const std::string settings = TRY(hooks.settings_file());
  const InstallPlan plan = TRY(plan_uninstall(hooks, shell.disk(), settings).in("uninstall"));
  print_plan(shell, hooks, plan);
  // Remove the hooks first: they would start the daemon again.
  if (!dry && plan.changes()) TRY(apply_install(shell.disk(), plan).in("uninstall"));
  std::optional<Client::Daemon> stopped;
  if (!dry) stopped = TRY(stop_or_kill(shell));
  if (!dry && wants_purge) TRY(purge(home));
  std::vector<std::string> removed;
  if (!dry) removed = remove_generated(shell.disk(), generated_here(shell));
  if (!dry)
    for (std::string& path : remove_commands(shell, settings)) removed.push_back(std::move(path));
  if (shell.json()) {
    Json result = plan_json(plan);
    result.set("daemon_stopped", stopped.has_value());
    result.set("purged", wants_purge && !dry);
    result.set("data", home.data);
    result.set("data_bytes", bytes);
    result.set("dry_run", dry);
    shell.print_json(result);
    return 0;
  }
  if (stopped) shell.print("daemon stopped\n");
  for (const std::string& path : removed) shell.print(fmt::format("removed {}\n", shown_line(path)));
  report_data(shell, bytes, wants_purge && !dry);
  report_what_stays(shell);
  if (dry) shell.print("dry run: nothing was changed\n");
  return 0;
}

}  // namespace cairn::cli
