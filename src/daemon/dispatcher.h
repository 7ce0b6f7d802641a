// Runs what is asked for: finds the operation, checks its arguments, runs it on the thread it belongs to and
// gives back its result.
//
// Knows nothing of sockets and lines: whatever carries requests (the control socket, later stdio and HTTP)
// calls request() and turns the result into its own kind of reply.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "daemon/engine.h"
#include "daemon/jobs.h"
#include "daemon/loop.h"
#include "hook/home.h"
#include "ops/operation.h"
#include "os/clock.h"

namespace cairn::daemon {

// Belongs to the loop thread; the threads it is given must be stopped before it goes.
class Dispatcher {
 public:
  struct Parts {
    const hook::Home& home;
    os::Disk& disk;
    os::Clock& clock;
    Loop& loop;
    Engine& engine;
    JobThread& writer;
    JobThread& reader;
    JobThread& slow_reader;                             // operations that take long and only read
    std::function<void()> on_stop;                      // a client asked the daemon to end
    std::function<void(const std::string&)> on_damage;  // what a reader came upon; from its thread
  };
  // Called once, unless the daemon ends before, on the thread that ran the operation: so a large result is
  // written out there and does not hold up the loop.
  using Reply = std::function<void(const Result<Json>&)>;

  explicit Dispatcher(const Parts& parts);

  // `unsupported` when there is no such operation, `invalid` when its arguments are refused.
  void request(std::string_view name, const Json& args, Reply reply);

  // Lets slow operations give up: the daemon ends.
  void stop() { stopping_ = true; }

 private:
  // A thread that reads, and its connection, which only that thread touches.
  struct Reader {
    JobThread& thread;
    std::optional<store::Db> db;
  };
  void do_it_here(const ops::Operation& operation, const Json& args, const Reply& reply);
  void read(Reader& reader, const ops::Operation& operation, const Json& args, Reply reply);
  Result<Json> run_reader(Reader& reader, const ops::Operation& operation, const Json& args);
  struct Drain;
  void process(const ops::Args& args, Reply reply);
  void drain(const std::shared_ptr<Drain>& work);
  void look_again(const std::shared_ptr<Drain>& work);
  Json about_daemon() const;

  Parts parts_;
  std::int64_t started_boot_ns_;
  std::atomic<bool> stopping_ = false;
  Reader reader_;
  Reader slow_reader_;
  const std::string key_;
};

}  // namespace cairn::daemon
