#include "cli/client.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "cli/obstacle.h"
#include "hook/control.h"
#include "hook/start.h"
#include "os/disk.h"
#include "os/lock.h"
#include "os/process.h"

namespace cairn::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kConnect = 2s;
constexpr milliseconds kFirstReply = 5s;  // to `ping` and `stop`, which the daemon's loop answers at once
constexpr milliseconds kReach = 10s;
constexpr milliseconds kStartAgain = 3s;  // then a start without effect is repeated
constexpr milliseconds kStop = 60s;       // a daemon ends its transaction and empties its log first
constexpr milliseconds kPause = 20ms;
constexpr milliseconds kWaitStep = 200ms;  // between two calls of on_wait
constexpr std::size_t kMaxReply = 512u << 20;
// Our own daemon's replies: as large as the stored texts.
constexpr Json::Limits kReplyLimits{.depth = 256, .nodes = 50'000'000, .string_bytes = kMaxReply};

std::int64_t after(os::Clock& clock, milliseconds time) {
  return clock.boot_ns() + nanoseconds(time).count();
}

// `internal` for a code that we do not know: the daemon may be of a newer version.
Code code_of(std::string_view name) {
  for (const Code code : {Code::busy, Code::not_found, Code::corrupt, Code::full, Code::denied, Code::timeout,
                          Code::canceled, Code::invalid, Code::unsupported})
    if (code_name(code) == name) return code;
  return Code::internal;
}

std::string where_to_look(const hook::Home& home) {
  return fmt::format("`cairn logs` says why ({})", home.log_file());
}

std::string how_to_end(os::Disk& disk, const hook::Home& home) {
  const auto pid = daemon_process(disk, home);
  return pid ? fmt::format("`kill -9 {}` ends it, and nothing is lost", *pid)
             : "its process cannot be seen from here: end it where it runs (another container?)";
}

std::string hint(std::int64_t pid) {
  return fmt::format(": `cairn logs` says what it does; `kill -9 {}` ends it if it hangs", pid);
}

// The reason why no daemon can start, as far as the disk shows it: an obstacle in the home, else the last
// error in the log.
Error cannot_start(os::Disk& disk, const hook::Home& home) {
  const auto obstacles = obstacles_of(home);
  if (!obstacles.empty())
    return {Code::denied,
            fmt::format("daemon: cannot start: {}: fix: {}", obstacles[0].what, obstacles[0].fix)};
  const std::string error = last_error(disk, home);
  return {Code::timeout,
          fmt::format("daemon: cannot start{}{}: {}", error.empty() ? "" : ": ", error, where_to_look(home))};
}

// With `force`: a person waits, so pauses after failed attempts do not apply.
Status start(os::Disk& disk, const hook::Home& home, os::Clock& clock) {
  const std::string me = os::executable_path();
  switch (hook::start_daemon(disk, home, clock, me, true)) {
    case hook::Start::running:
    case hook::Start::started:
    case hook::Start::waiting: return {};
    case hook::Start::missing:
      return Error{Code::internal, fmt::format("daemon: cannot start: {} is gone: install cairn again", me)};
    case hook::Start::failed: return cannot_start(disk, home);
  }
  return {};
}

}  // namespace

Result<Client> Client::connect(const hook::Home& home, os::Clock& clock) {
  Client client(TRY(os::connect_unix(home.socket(), static_cast<int>(kConnect.count()))), clock);
  const Json pong = TRY(client.call("ping", Json::object(), kFirstReply));
  client.daemon_ = {pong["pid"].as_int(), pong["uptime_s"].as_int(),
                    std::string(pong["version"].as_string())};
  return client;
}

Result<Client> Client::reach(os::Disk& disk, const hook::Home& home, os::Clock& clock) {
  auto client = try_to_reach(disk, home, clock);
  if (client) return client;
  // Without a daemon nothing else reports the events that hooks could not write.
  Error error = std::move(client).error();
  if (const std::string unwritten = unwritten_events(disk, home); !unwritten.empty())
    error.message += "; " + unwritten;
  return error;
}

// Tries to connect until it succeeds, the time is over, or there is a reason why it cannot. Whether a daemon
// runs is decided by the lock, not by the socket: one that starts or ends has the lock but does not answer.
Result<Client> Client::try_to_reach(os::Disk& disk, const hook::Home& home, os::Clock& clock) {
  std::int64_t end = after(clock, kReach), start_next = 0;
  while (clock.boot_ns() < end) {
    Result<Client> client = connect(home, clock);
    if (client && client->daemon().version == CAIRN_VERSION) return client;
    if (client) {  // of another version
      TRY(stop_daemon(disk, home, clock));
      end = after(clock, kReach);
      continue;
    }
    if (client.error().code == Code::denied) return std::move(client).error().in("daemon");
    // We started one, and it is gone again: perhaps it recorded why. An older record is not ours to report.
    const bool ended = start_next > 0 && !os::FileLock::is_held(home.lock());
    if (const std::string why = ended ? hook::why_not_started(disk, home) : ""; !why.empty())
      return Error{Code::internal, fmt::format("daemon: cannot start: {}", why)};
    // A daemon that is ending still has the lock: start the next one when it is gone.
    if (!os::FileLock::is_held(home.lock()) && clock.boot_ns() >= start_next) {
      if (!obstacles_of(home).empty()) return cannot_start(disk, home);
      TRY(start(disk, home, clock));
      start_next = after(clock, kStartAgain);
    }
    std::this_thread::sleep_for(kPause);
  }
  return os::FileLock::is_held(home.lock()) ? no_answer(disk, home) : cannot_start(disk, home);
}

Result<Json> Client::call(std::string_view op, const Json& args, milliseconds timeout,
                          const std::function<bool()>& on_wait) {
  const Json request = Json::object({{"v", hook::kProtocol}, {"op", op}, {"args", args}});
  const std::int64_t end = after(*clock_, timeout);
  TRY(os::send_all(fd_.get(), request.dump() + "\n", end).in("daemon"));
  std::string line;
  for (;;) {
    const std::int64_t next = on_wait ? std::min(end, after(*clock_, kWaitStep)) : end;
    auto read = os::read_line(fd_.get(), rest_, kMaxReply, next);
    if (read) {
      line = *std::move(read);
      break;
    }
    if (read.error().code == Code::canceled)
      return Error{
          Code::canceled,
          fmt::format("daemon: ended while it worked on \"{}\": try again; `cairn logs` says why", op)};
    if (read.error().code != Code::timeout) return std::move(read).error().in("daemon");
    if (clock_->boot_ns() >= end)
      return Error{Code::timeout, fmt::format("daemon: no answer to \"{}\" within {} s{}", op, timeout / 1s,
                                              daemon_.pid > 0 ? hint(daemon_.pid) : "")};
    if (!on_wait()) return Error{Code::canceled, fmt::format("\"{}\" was given up", op)};
  }
  Json reply = TRY(Json::parse(line, kReplyLimits).in("daemon: reply"));
  if (!reply["ok"].as_bool())
    return Error{code_of(reply["error"]["code"].as_string()),
                 std::string(reply["error"]["message"].as_string("no reason given"))};
  // Moved out, not copied: a reply may have hundreds of megabytes.
  for (auto& [key, value] : reply.mutable_members())
    if (key == "result") return std::move(value);
  return Json();
}

Error no_answer(os::Disk& disk, const hook::Home& home) {
  return {Code::timeout, fmt::format("daemon: it runs, but does not answer: {}; {}", how_to_end(disk, home),
                                     where_to_look(home))};
}

Status kill_daemon(os::Disk& disk, const hook::Home& home, os::Clock& clock) {
  const auto pid = daemon_process(disk, home);
  if (!pid) return no_answer(disk, home);
  if (::kill(*pid, SIGKILL) != 0) return errno_error(fmt::format("kill {}", *pid), errno);
  const std::int64_t end = after(clock, kReach);
  while (os::FileLock::is_held(home.lock())) {
    if (clock.boot_ns() >= end) return no_answer(disk, home);
    std::this_thread::sleep_for(kPause);
  }
  return {};
}

Result<std::optional<Client::Daemon>> stop_daemon(os::Disk& disk, const hook::Home& home, os::Clock& clock) {
  if (!os::FileLock::is_held(home.lock())) return std::optional<Client::Daemon>();
  const std::int64_t end = after(clock, kStop);
  std::optional<Client::Daemon> stopped;
  std::int64_t give_up = after(clock, kReach);
  while (os::FileLock::is_held(home.lock())) {
    // It may be starting or ending: only its lock is reliable.
    if (!stopped) {
      auto client = Client::connect(home, clock);
      if (client && client->call("stop", Json::object(), kFirstReply)) stopped = client->daemon();
      if (!stopped && clock.boot_ns() >= give_up) return no_answer(disk, home);
    }
    if (clock.boot_ns() >= end)
      return Error{Code::timeout, fmt::format("daemon: asked to stop, but still there after {} s: {}; {}",
                                              kStop / 1s, how_to_end(disk, home), where_to_look(home))};
    std::this_thread::sleep_for(kPause);
  }
  return stopped ? stopped : std::optional(Client::Daemon{});  // it ended before it could say who it was
}

}  // namespace cairn::cli
