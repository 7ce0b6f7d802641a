#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/obstacle.h"
#include "daemon/daemon.h"
#include "os/lock.h"

namespace cairn::cli {

namespace {

using namespace std::chrono_literals;

// No limit: when the daemon dies, the connection closes.
constexpr std::chrono::milliseconds kProcess = 24h * 365;

Json daemon_json(const Client::Daemon& daemon) {
  return Json::object(
      {{"running", true}, {"pid", daemon.pid}, {"uptime_s", daemon.uptime_s}, {"version", daemon.version}});
}

std::string daemon_text(const Client::Daemon& daemon) {
  return fmt::format("daemon {} runs: pid {}, for {}\n", shown_line(daemon.version), daemon.pid,
                     duration_text(daemon.uptime_s));
}

Result<int> report_running(Shell& shell, bool started) {
  const Client::Daemon daemon = TRY(shell.daemon())->daemon();
  Json result = daemon_json(daemon);
  result.set("started", started);
  if (shell.json())
    shell.print_json(result);
  else
    shell.print(daemon_text(daemon));
  return 0;
}

// A progress line on stderr that overwrites itself; only on a terminal.
class Progress {
 public:
  explicit Progress(const hook::Home& home, os::Clock& clock)
      : home_(home), clock_(clock), screen_(Screen::of(STDERR_FILENO, true)) {}
  ~Progress() {
    if (drawn_) std::fputs("\r\x1b[K", stderr);
  }

  void draw() {
    if (!screen_.terminal || ++steps_ % 5 != 0) return;  // called five times a second, draws once
    // Needs a second connection: the first one waits for its reply.
    auto client = Client::connect(home_, clock_);
    if (!client) return;
    const auto status = client->call("status", Json::object(), 1s);
    if (!status) return;
    const std::string text = fmt::format(
        "inbox {} · queue {}", number_text((*status)["inbox"].as_int()),
        number_text((*status)["queue"]["pending"].as_int() + (*status)["queue"]["processing"].as_int()));
    std::fprintf(stderr, "\r\x1b[K%s", fit(text, screen_.width - 1).c_str());
    std::fflush(stderr);
    drawn_ = true;
  }

 private:
  const hook::Home& home_;
  os::Clock& clock_;
  Screen screen_;
  int steps_ = 0;
  bool drawn_ = false;
};

}  // namespace

Result<int> daemon_run(Shell& shell) {
  // daemon::run() ends silently then, because hooks start it too; a person should know why.
  if (os::FileLock::is_held(shell.home().lock())) {
    shell.note(fmt::format("daemon: another one serves {} already: `cairn daemon status` shows it",
                           shell.home().data));
    return 0;
  }
  return daemon::run(shell.disk(), shell.home());
}

Result<int> daemon_start(Shell& shell) {
  const bool ran = os::FileLock::is_held(shell.home().lock());
  return report_running(shell, !ran);
}

Result<std::optional<Client::Daemon>> stop_or_kill(Shell& shell) {
  auto stopped = stop_daemon(shell.disk(), shell.home(), shell.clock());
  // A timeout is the only error that killing helps against.
  if (stopped || stopped.error().code != Code::timeout) return stopped;
  const auto pid = daemon_process(shell.disk(), shell.home());
  if (!pid) return stopped;
  const std::string question = fmt::format("The daemon does not answer. End it with `kill -9 {}`?", *pid);
  if (!TRY(shell.confirm(question))) return stopped;
  TRY(kill_daemon(shell.disk(), shell.home(), shell.clock()));
  return std::optional(Client::Daemon{*pid, 0, ""});
}

Result<int> daemon_stop(Shell& shell) {
  const auto stopped = TRY(stop_or_kill(shell));
  if (shell.json()) {
    const bool known = stopped && stopped->pid > 0;
    shell.print_json(Json::object({{"running", false},
                                   {"stopped", stopped.has_value()},
                                   {"pid", known ? Json(stopped->pid) : Json()}}));
  } else {
    shell.print(stopped ? "daemon stopped\n" : "no daemon runs\n");
  }
  return 0;
}

Result<int> daemon_restart(Shell& shell) {
  TRY(stop_or_kill(shell));
  return report_running(shell, true);
}

Result<int> daemon_status(Shell& shell) {
  const auto client = Client::connect(shell.home(), shell.clock());
  if (!client && os::FileLock::is_held(shell.home().lock())) return no_answer(shell.disk(), shell.home());
  if (!client) {
    if (shell.json())
      shell.print_json(Json::object({{"running", false}}));
    else
      shell.print("no daemon runs: the next hook or command starts one\n");
    return 3;
  }
  if (shell.json())
    shell.print_json(daemon_json(client->daemon()));
  else
    shell.print(daemon_text(client->daemon()));
  return 0;
}

static Page process_page(const Json& result) {
  const Json& queue = result["queue"];
  Page page{fmt::format("{} read, {} processed; {} in the inbox, {} pending\n",
                        count_text(result["taken_in"].as_int(), "event", "events"),
                        count_text(result["processed"].as_int(), "message", "messages"),
                        number_text(result["inbox"].as_int()),
                        number_text(queue["pending"].as_int() + queue["processing"].as_int()))};
  if (const auto failed = queue["failed"].as_int())
    page.note = fmt::format("queue: {} failed: `cairn queue list --status failed` shows why",
                            count_text(failed, "message", "messages"));
  return page;
}

Result<int> process_command(Shell& shell) {
  Client& client = *TRY(shell.daemon());
  const Json result = TRY([&] {
    Progress progress(shell.home(), shell.clock());
    return client.call("process", shell.args(), kProcess, [&] {
      progress.draw();
      return true;
    });
  }());
  return shell.show(process_page(result), result);
}

}  // namespace cairn::cli
