// `doctor --fix`: what can be fixed without a question.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "cli/doctor.h"
#include "cli/install.h"
#include "cli/program.h"
#include "cli/stage.h"
#include "host/host.h"
#include "os/lock.h"
#include "os/process.h"
#include "store/open_store.h"

namespace cairn::cli {

namespace {

using namespace std::chrono_literals;

class Fixer {
 public:
  explicit Fixer(Shell& shell) : shell_(shell) {}

  std::vector<Repair> run() {
    register_hooks();  // outside of the home, so obstacles there do not matter
    // In the home nothing can be fixed before the obstacles are gone, and only a person can remove them.
    if (name_obstacles()) return std::move(repairs_);
    make_directories();
    close_to_others();
    restart_daemon(stop_for_a_new_store());
    return std::move(repairs_);
  }

 private:
  void did(std::string text) { repairs_.push_back({std::move(text), true}); }
  void could_not(std::string text) { repairs_.push_back({std::move(text), false}); }

  bool name_obstacles() {
    const auto obstacles = obstacles_of(shell_.home());
    for (const Obstacle& obstacle : obstacles) could_not(fmt::format("{}: {}", obstacle.what, obstacle.fix));
    return !obstacles.empty();
  }

  void make_directories() {
    for (const std::string& directory : home_directories(shell_.home())) {
      if (shell_.disk().stat(directory)) continue;
      if (auto made = os::make_dirs(shell_.disk(), directory); !made)
        return could_not("make directories: " + made.error().message);
      did("made " + directory);
    }
  }

  void close_to_others() {
    for (const std::string& path : wrong_modes(shell_.disk(), shell_.home())) {
      struct stat info;
      if (stat(path.c_str(), &info) == 0 && chmod(path.c_str(), info.st_mode & 0700) == 0)
        did("closed to other users: " + path);
      else
        could_not(errno_error(path, errno).message);
    }
  }

  void register_hooks() {
    const host::Registration host = look_at_host(shell_);
    const host::Hooks& hooks = host::default_host().hooks();
    // Not beside a plugin of ours: every event would start two hooks.
    if (!host.present || !host.problem.empty() || (!host.in_settings() && !host.plugins.empty())) return;
    const auto done = [&]() -> Result<bool> {
      const bool exec_form = hooks.takes_exec_form(version_of(hooks.command(), 5s));
      const InstallPlan plan =
          TRY(plan_install(hooks, shell_.disk(), host.settings_file, {hook_beside_me(), exec_form}));
      if (plan.changes()) TRY(apply_install(shell_.disk(), plan));
      const InstallPlan servers =
          TRY(plan_install(hooks.servers(), shell_.disk(), host.servers_file, {os::executable_path(), true}));
      if (servers.changes()) TRY(apply_install(shell_.disk(), servers));
      return plan.changes() || servers.changes();
    }();
    if (!done) return could_not("register the hooks and tools: " + done.error().message);
    if (*done)
      did(fmt::format("registered the hooks in {} and the tools in {}", host.settings_file,
                      host.servers_file));
  }

  // At its start a daemon checks a large store only in part, so do it here. Notes damage and stops the
  // daemon: the next one rebuilds the store at its start. Returns whether it has to.
  bool stop_for_a_new_store() {
    Installation here(shell_);
    if (!here.db) return false;
    const auto checked = here.db->integrity_check();
    if (checked || checked.error().code != Code::corrupt) return false;
    const std::string& file = shell_.home().database();
    const auto noted = store::note_damage(shell_.disk(), file, checked.error().message, shell_.clock().now());
    const auto stopped = noted ? stop_daemon(shell_.disk(), shell_.home(), shell_.clock()) : noted.error();
    if (!stopped) could_not("replace the damaged store: " + stopped.error().message);
    return stopped.ok();
  }

  void restart_daemon(bool rebuilds) {
    const auto before = Client::connect(shell_.home(), shell_.clock());
    auto client = Client::reach(shell_.disk(), shell_.home(), shell_.clock());
    if (!client)
      return could_not((rebuilds ? "replace the damaged store: " : "start the daemon: ") +
                       client.error().message);
    if (rebuilds) did("replaced the damaged store: `cairn status` says what was recovered");
    if (!before)
      did(fmt::format("started the daemon, pid {}", client->daemon().pid));
    else if (before->daemon().pid != client->daemon().pid)
      did(fmt::format("replaced daemon {}, pid {}", shown_line(before->daemon().version),
                      client->daemon().pid));
    const auto taken = client->call("process", Json::object(), 120s);
    if (!taken) return could_not("read the inbox: " + taken.error().message);
    if (const std::int64_t events = (*taken)["taken_in"].as_int())
      did("stored " + count_text(events, "event", "events"));
  }

  Shell& shell_;
  std::vector<Repair> repairs_;
};

}  // namespace

std::vector<Repair> fix_all(Shell& shell) {
  return Fixer(shell).run();
}

}  // namespace cairn::cli
