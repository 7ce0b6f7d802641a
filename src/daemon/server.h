// The protocol on the control socket: which thread does what a request asks for, and how its reply reads.
//
// docs/reference/control.md describes it. Requests that only read run on the reader's thread with a
// connection of their own, so that they are answered while the writer works.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/log.h"
#include "daemon/control.h"
#include "daemon/engine.h"
#include "daemon/jobs.h"
#include "daemon/loop.h"
#include "hook/home.h"
#include "os/clock.h"

namespace cairn::daemon {

// Belongs to the loop thread; the threads it is given must be stopped before it goes.
class Server {
 public:
  struct Parts {
    const hook::Home& home;
    os::Disk& disk;
    os::Clock& clock;
    Log& log;
    Loop& loop;
    Engine& engine;
    JobThread& writer;
    JobThread& reader;
    std::function<void()> on_stop;                      // a client asked the daemon to end
    std::function<void()> on_activity;                  // somebody needs the daemon
    std::function<void(const std::string&)> on_damage;  // what the reader came upon; from its thread
  };
  explicit Server(const Parts& parts);

  void handle(const std::shared_ptr<Connection>& connection, std::string_view line);

 private:
  using Peer = std::weak_ptr<Connection>;
  void answer(const std::shared_ptr<Connection>& connection, const Json& args);
  void given(Connection& connection);
  void process(Peer peer, const Json& args);
  struct Drain;
  void drain(std::shared_ptr<Drain> work);
  void look_again(std::shared_ptr<Drain> work);
  void run(Peer peer, const ops::Operation& operation, Json args);
  Result<Json> run_reader(const ops::Operation& operation, const Json& args);
  void send(Peer peer, Result<Json> result);
  Json daemon_json();

  Parts parts_;
  std::int64_t started_boot_ns_;
  std::optional<store::Db> reader_db_;  // the reader's thread
  const std::string key_;
};

}  // namespace cairn::daemon
