// The connection to the daemon: finds the running one, starts one when there is none, replaces one of another
// version.
//
// docs/reference/control.md describes the protocol. Belongs to one thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "hook/home.h"
#include "os/clock.h"
#include "os/disk.h"
#include "os/socket.h"

namespace cairn::cli {

class Client {
 public:
  // What the daemon says of itself.
  struct Daemon {
    std::int64_t pid = 0;
    std::int64_t uptime_s = 0;
    std::string version;
  };

  // Connects to the running daemon, of any version; `not_found` when none runs.
  static Result<Client> connect(const hook::Home& home, os::Clock& clock);

  // Connects to a daemon of our version: starts one when none runs, and replaces one of another version.
  // Waits up to 10 s for it to answer. The error also names events that hooks could not write.
  static Result<Client> reach(os::Disk& disk, const hook::Home& home, os::Clock& clock);

  // Runs one operation. The daemon's error is returned as it is; `timeout` when there was no reply in time.
  // `on_wait` is called about five times a second while waiting; when it returns false the call fails with
  // `canceled`, and this connection must not be used again.
  Result<Json> call(std::string_view op, const Json& args,
                    std::chrono::milliseconds timeout = std::chrono::seconds(60),
                    const std::function<bool()>& on_wait = {});

  const Daemon& daemon() const { return daemon_; }

 private:
  Client(os::Fd fd, os::Clock& clock) : fd_(std::move(fd)), clock_(&clock) {}
  static Result<Client> try_to_reach(os::Disk& disk, const hook::Home& home, os::Clock& clock);

  os::Fd fd_;
  os::Clock* clock_;
  std::string rest_;
  Daemon daemon_;
};

// The error for a daemon that has its lock but does not answer; it names the command that ends it.
Error no_answer(os::Disk& disk, const hook::Home& home);

// Kills the daemon and waits until its lock is free. Events that it had not stored are still in the inbox.
Status kill_daemon(os::Disk& disk, const hook::Home& home, os::Clock& clock);

// Asks the daemon to end and waits up to 60 s until its lock is free. Returns the daemon that ended; nothing
// when none ran. Fails with `timeout` when it does not answer.
Result<std::optional<Client::Daemon>> stop_daemon(os::Disk& disk, const hook::Home& home, os::Clock& clock);

}  // namespace cairn::cli
