#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>

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

// Both commands plan the changes of a host's files first, print the plans, and then apply them (not with
// --dry-run). The default host has code of its own: besides its hooks it has a list of MCP servers that it
// writes itself, and commands that people type. For the others a plan for each of their files is enough.

namespace cairn::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A host and what is planned for its files. The first file is the one with the hooks.
struct HostPlan {
  const host::Host* host = nullptr;
  std::vector<std::pair<const host::SettingsFile*, InstallPlan>> files;
  std::vector<std::string> problems;  // files other than the hooks' that cannot be changed

  const InstallPlan& hooks() const { return files.front().second; }
  bool changes() const {
    return std::any_of(files.begin(), files.end(), [](const auto& file) { return file.second.changes(); });
  }
};

// Which hosts a command is about: the one that --host names, else all that pass `wanted`. The default host is
// always one of them.
template <class Wanted>
std::vector<const host::Host*> chosen_hosts(const Shell& shell, const Wanted& wanted) {
  if (const auto name = shell.args().text("host")) return {host::known_host(*name)};
  std::vector<const host::Host*> chosen;
  for (const host::Host* host : host::hosts())
    if (!host->files().empty() && (host == &host::default_host() || wanted(*host))) chosen.push_back(host);
  return chosen;
}

// Plans every file of a host. Only a problem with the hooks' file is an error: without the MCP server the
// host still remembers.
template <class Plan>
Result<HostPlan> plan_host(const host::Host& host, const Plan& plan) {
  HostPlan all{&host, {}, {}};
  for (const host::SettingsFile* file : host.files()) {
    auto planned = [&]() -> Result<InstallPlan> { return plan(*file, TRY(file->settings_file())); }();
    if (!planned && all.files.empty()) return std::move(planned).error();
    if (planned)
      all.files.emplace_back(file, *std::move(planned));
    else
      all.problems.push_back(
          fmt::format("{} of {}: {}", file->what(), host.title(), planned.error().message));
  }
  return all;
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

// "adds the agent's tools to FILE": what the plan will do with the list of MCP servers.
std::string servers_text(const InstallPlan& plan, bool has_server) {
  const std::string file = shown_line(plan.settings_file);
  if (plan.changes())
    return fmt::format("{} {}\n",
                       plan.uninstall ? "removes the agent's tools from" : "adds the agent's tools to", file);
  return has_server ? fmt::format("the agent's tools are registered in {} already\n", file) : std::string();
}

// Prints what will happen; with -v or --dry-run as a diff.
void print_plans(Shell& shell, const host::Hooks& hooks, const InstallPlan& plan,
                 const InstallPlan& servers) {
  if (shell.json()) return;
  const bool diff = shell.flag("verbose") || shell.flag("dry_run");
  shell.print(plan_text(hooks, plan));
  if (diff) shell.print(coloured_diff(shell.screen(), plan));
  shell.print(servers_text(servers, hooks.servers().count(servers.before) > 0));
  if (diff) shell.print(coloured_diff(shell.screen(), servers));
}

// The host may write this file at any time. When it has done so since the plan, plan again; five times, then
// the error is shown.
Status apply_servers(Shell& shell, InstallPlan plan, const std::function<Result<InstallPlan>()>& again) {
  for (int attempt = 0;; ++attempt) {
    Status done = plan.changes() ? apply_install(shell.disk(), plan) : Status();
    if (done || done.error().code != Code::busy || attempt == 4) return done;
    plan = TRY(again());
  }
}

// What the plan will do with a file of another host.
std::string file_text(const host::SettingsFile& settings, const InstallPlan& plan) {
  const auto before = static_cast<std::int64_t>(settings.count(plan.before)),
             after = static_cast<std::int64_t>(settings.count(plan.after));
  const std::string file = shown_line(plan.settings_file);
  const bool hooks = settings.what() == "hooks";
  const auto amount = [&](std::int64_t count) {
    return hooks ? count_text(count, "hook", "hooks") : fmt::format("the {}", settings.what());
  };
  if (!plan.changes() && after > 0)
    return fmt::format("the {} {} registered in {} already: nothing to do\n", settings.what(),
                       hooks ? "are" : "is", file);
  if (!plan.changes()) return fmt::format("no {} of cairn in {}\n", settings.what(), file);
  if (plan.uninstall) return fmt::format("removes {} from {}\n", amount(before), file);
  if (before == 0) return fmt::format("adds {} to {}\n", amount(after), file);
  if (!hooks) return fmt::format("updates the {} in {}\n", settings.what(), file);
  return fmt::format("updates the hooks in {}: {} before, {} now\n", file, before, after);
}

void print_others(Shell& shell, const std::vector<HostPlan>& hosts) {
  if (shell.json()) return;
  for (const HostPlan& host : hosts) {
    shell.print(shell.screen().paint(Style::bold, host.host->title()) + "\n");
    for (const auto& [settings, plan] : host.files) {
      shell.print(file_text(*settings, plan));
      if (shell.flag("verbose") || shell.flag("dry_run")) shell.print(coloured_diff(shell.screen(), plan));
    }
    for (const std::string& problem : host.problems) shell.note("not changed: " + problem);
  }
}

Status apply_plans(Shell& shell, const std::vector<HostPlan>& hosts) {
  for (const HostPlan& host : hosts)
    for (const auto& [settings, plan] : host.files)
      if (plan.changes()) TRY(apply_install(shell.disk(), plan));
  return {};
}

std::vector<GeneratedFile> generated_here(Shell& shell) {
  const char* home = std::getenv("HOME");
  if (!home || *home != '/') return {};
  return generated_files(shell.disk(), home, os::executable_path());
}

// Writes completions and the manual page, which an uninstall may have removed. An error is only reported.
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

Json plan_json(const InstallPlan& plan, const InstallPlan& servers) {
  const auto diff = [](const InstallPlan& of) {
    return diff_text(of.before, of.removes ? "" : of.after, of.settings_file);
  };
  return Json::object({{"host", host::default_host().name()},
                       {"settings_file", plan.settings_file},
                       {"servers_file", servers.settings_file},
                       {"changed", plan.changes() || servers.changes()},
                       {"diff", diff(plan) + diff(servers)}});
}

Json file_json(const InstallPlan& plan) {
  return Json::object({{"settings_file", plan.settings_file},
                       {"changed", plan.changes()},
                       {"diff", diff_text(plan.before, plan.removes ? "" : plan.after, plan.settings_file)}});
}

// The files of other hosts than the default one.
Json others_json(const std::vector<HostPlan>& hosts) {
  Json all = Json::array();
  for (const HostPlan& host : hosts) {
    Json files = Json::array(), problems = Json::array();
    for (const auto& [settings, plan] : host.files) files.push(file_json(plan).set("what", settings->what()));
    for (const std::string& problem : host.problems) problems.push(problem);
    all.push(Json::object({{"host", host.host->name()}, {"files", files}, {"problems", problems}}));
  }
  return all;
}

// The bytes of all regular files. What cannot be read is left out: the number is only shown.
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

std::vector<fs::path> entries_of(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (auto entry = fs::directory_iterator(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    entries.push_back(entry->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

Status delete_all_of(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return {};
  return Error{Code::denied, fmt::format("purge: {}: {}: remove it by hand", path.string(), error.message())};
}

// Deletes what cairn created in the home. Holds the lock meanwhile, so that no daemon starts; the lock's file
// goes last.
Status purge_home(const hook::Home& home) {
  const os::FileLock lock =
      TRY(os::FileLock::acquire(home.lock()).in("purge: a daemon has just been started: try again"));
  for (const fs::path& entry : entries_of(home.data)) {
    std::error_code error;
    const bool is_ours =
        hook::Home::creates(entry.filename().string()) &&
        !(entry.extension() == ".new" && fs::is_directory(entry, error));  // we make no such directory
    if (entry != home.lock() && is_ours) TRY(delete_all_of(entry));
  }
  return delete_all_of(home.lock());
}

// Deletes what cairn created in the home and elsewhere for it, and config.toml. Returns what is left:
// CAIRN_HOME may contain other things, and modes and templates of the user are beside config.toml.
Result<std::vector<std::string>> purge(const hook::Home& home) {
  std::error_code error;
  if (fs::exists(home.data, error)) TRY(purge_home(home));
  TRY(delete_all_of(home.failed_outside()));
  TRY(delete_all_of(home.config_file));
  std::vector<std::string> left;
  // A set: with CAIRN_HOME both are the same directory.
  for (const fs::path& directory : std::set<fs::path>{home.data, fs::path(home.config_file).parent_path()}) {
    if (fs::is_symlink(directory, error))
      left.push_back(directory.string());
    else
      fs::remove(directory, error);  // only when it is empty
    for (const fs::path& entry : entries_of(directory)) left.push_back(entry.string());
  }
  return left;
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

// `left`: what a purge left; nothing: there was none.
void report_data(Shell& shell, std::int64_t bytes, const std::optional<std::vector<std::string>>& left) {
  const std::string& data = shell.home().data;
  std::error_code error;
  if (!left && fs::exists(data, error))
    shell.print(fmt::format("stays: what is remembered ({} in {}); to remove: cairn uninstall --purge\n",
                            size_text(bytes), shown_line(data)));
  if (!left) return;
  shell.print(fmt::format("deleted what was remembered in {} ({})\n", shown_line(data), size_text(bytes)));
  constexpr std::size_t kMostNamed = 10;
  for (std::size_t i = 0; i < std::min(left->size(), kMostNamed); ++i)
    shell.print(fmt::format("stays: {}: cairn did not create it\n", shown_line((*left)[i])));
  if (left->size() > kMostNamed)
    shell.print(fmt::format("stays: {} more that cairn did not create\n", left->size() - kMostNamed));
}

}  // namespace

// Registers with the default host; `others` is what was done with the others.
static Result<int> install_default(Shell& shell, const std::string& program,
                                   const std::vector<HostPlan>& others) {
  const host::Hooks& hooks = host::default_host().hooks();
  // An old version of the host knows only hooks that are a line for a shell.
  const bool exec_form = hooks.takes_exec_form(version_of(hooks.command(), 5s));
  const std::string settings = TRY(hooks.settings_file());
  const InstallPlan plan =
      TRY(plan_install(hooks, shell.disk(), settings, {program, exec_form}).in("install"));
  const auto plan_servers = [&, file = TRY(hooks.servers_file())] {
    return plan_install(hooks.servers(), shell.disk(), file, {os::executable_path(), true});
  };
  const InstallPlan servers = TRY(plan_servers().in("install"));
  const bool dry = shell.flag("dry_run");
  print_plans(shell, hooks, plan, servers);
  if (!dry && plan.changes()) TRY(apply_install(shell.disk(), plan).in("install"));
  if (!dry) TRY(apply_servers(shell, servers, plan_servers).in("install"));
  if (!dry && shell.disk().stat(shell.home().data)) {  // there is none before the first event
    TRY(shell.home().check().in("home"));
    TRY(os::close_to_others(shell.home().data));
  }
  if (!dry) restore_generated(shell);
  if (!dry) TRY(install_commands(shell, settings).in("install"));
  if (shell.json()) {
    Json result = plan_json(plan, servers);
    Json events = Json::array();
    for (const std::string& event : hooks.events()) events.push(event);
    result.set("hook", program);
    result.set("exec_form", exec_form);
    result.set("events", events);
    result.set("dry_run", dry);
    result.set("hosts", others_json(others));
    shell.print_json(result);
    return 0;
  }
  if (dry)
    shell.print("dry run: nothing was changed\n");
  else if (plan.changes() || servers.changes())
    shell.print("Open sessions use them after a restart.\n");
  return 0;
}

// What the user must do before the hooks of other hosts run.
static void print_next_steps(Shell& shell, const std::vector<HostPlan>& hosts) {
  if (shell.json() || shell.flag("dry_run")) return;
  for (const HostPlan& host : hosts) {
    const auto found = host.host->hooks().look(shell.disk(), shell.directory());
    if (!found.consent.empty()) shell.print(fmt::format("{}: {}.\n", host.host->title(), found.consent));
  }
}

// The default host is the first of chosen_hosts(), unless --host names another: then it is not among them.
Result<int> install_command(Shell& shell) {
  const std::string program = TRY(hook_program(shell.disk()));
  const auto chosen = chosen_hosts(shell, [&](const host::Host& host) {
    return host.hooks().look(shell.disk(), shell.directory()).present;
  });
  const bool dry = shell.flag("dry_run");
  std::vector<HostPlan> others;
  for (const host::Host* host : chosen)
    if (host != &host::default_host())
      others.push_back(TRY(plan_host(*host, [&](const host::SettingsFile& file, const std::string& path) {
                             return plan_install(file, shell.disk(), path, {program, false});
                           }).in("install")));
  print_others(shell, others);
  if (!dry) TRY(apply_plans(shell, others).in("install"));
  print_next_steps(shell, others);
  if (chosen.front() == &host::default_host()) return install_default(shell, program, others);
  if (!dry) restore_generated(shell);
  if (shell.json())
    shell.print_json(Json::object({{"host", chosen.front()->name()},
                                   {"hook", program},
                                   {"dry_run", dry},
                                   {"hosts", others_json(others)}}));
  else
    shell.print(dry ? "dry run: nothing was changed\n" : "Open sessions use them after a restart.\n");
  return 0;
}

static Result<int> uninstall_default(Shell& shell, const std::vector<HostPlan>& others) {
  const host::Hooks& hooks = host::default_host().hooks();
  const hook::Home& home = shell.home();
  const bool wants_purge = shell.flag("purge");
  const std::int64_t bytes = size_below(home.data);
  const bool dry = shell.flag("dry_run");
  if (wants_purge && !dry &&
      !TRY(shell.confirm(
          fmt::format("Delete everything that is remembered ({} in {})?", size_text(bytes), home.data))))
    return Error{Code::canceled, "uninstall: not confirmed: nothing was changed"};
  const std::string settings = TRY(hooks.settings_file());
  const InstallPlan plan = TRY(plan_uninstall(hooks, shell.disk(), settings).in("uninstall"));
  const auto plan_servers = [&, file = TRY(hooks.servers_file())] {
    return plan_uninstall(hooks.servers(), shell.disk(), file);
  };
  const InstallPlan servers = TRY(plan_servers().in("uninstall"));
  print_plans(shell, hooks, plan, servers);
  // Remove the hooks first: they would start the daemon again.
  if (!dry) TRY(apply_plans(shell, others).in("uninstall"));
  if (!dry && plan.changes()) TRY(apply_install(shell.disk(), plan).in("uninstall"));
  if (!dry) TRY(apply_servers(shell, servers, plan_servers).in("uninstall"));
  std::optional<Client::Daemon> stopped;
  if (!dry) stopped = TRY(stop_or_kill(shell));
  std::optional<std::vector<std::string>> left;
  if (!dry && wants_purge) left = TRY(purge(home));
  std::vector<std::string> removed;
  if (!dry) removed = remove_generated(shell.disk(), generated_here(shell));
  if (!dry)
    for (std::string& path : remove_commands(shell, settings)) removed.push_back(std::move(path));
  if (shell.json()) {
    Json result = plan_json(plan, servers);
    result.set("daemon_stopped", stopped.has_value());
    result.set("purged", left.has_value());
    Json others_left = Json::array();
    for (const std::string& path : left.value_or(std::vector<std::string>())) others_left.push(path);
    result.set("left", std::move(others_left));
    result.set("data", home.data);
    result.set("data_bytes", bytes);
    result.set("dry_run", dry);
    result.set("hosts", others_json(others));
    shell.print_json(result);
    return 0;
  }
  if (stopped) shell.print("daemon stopped\n");
  for (const std::string& path : removed) shell.print(fmt::format("removed {}\n", shown_line(path)));
  report_data(shell, bytes, left);
  report_what_stays(shell);
  if (dry) shell.print("dry run: nothing was changed\n");
  return 0;
}

// Without --host: every host whose files have an entry of ours, even if the host itself is gone.
Result<int> uninstall_command(Shell& shell) {
  const auto chosen = chosen_hosts(shell, [&](const host::Host& host) {
    const auto files = host.files();
    return std::any_of(files.begin(), files.end(), [&](const host::SettingsFile* file) {
      const auto path = file->settings_file();
      return path && file->count(os::read_file(shell.disk(), *path, 8u << 20).value_or("")) > 0;
    });
  });
  const bool dry = shell.flag("dry_run");
  const bool with_default = chosen.front() == &host::default_host();
  if (shell.flag("purge") && !with_default)
    return Error{Code::invalid,
                 "uninstall: --purge deletes the memory of all coding agents: leave --host out"};
  std::vector<HostPlan> others;
  for (const host::Host* host : chosen)
    if (host != &host::default_host())
      others.push_back(TRY(plan_host(*host, [&](const host::SettingsFile& file, const std::string& path) {
                             return plan_uninstall(file, shell.disk(), path);
                           }).in("uninstall")));
  print_others(shell, others);
  if (with_default) return uninstall_default(shell, others);
  if (!dry) TRY(apply_plans(shell, others).in("uninstall"));
  if (shell.json())
    shell.print_json(
        Json::object({{"host", chosen.front()->name()}, {"dry_run", dry}, {"hosts", others_json(others)}}));
  else
    shell.print(dry ? "dry run: nothing was changed\n" : "other coding agents are still remembered\n");
  return 0;
}

}  // namespace cairn::cli
