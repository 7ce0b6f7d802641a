// Runs requests: finds the operation, checks its arguments, runs it on its thread and returns the result.
//
// Knows nothing of sockets and lines: the control socket calls request() and formats the result. The command
// line and the agent's tools come through that socket.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "daemon/agent_test.h"
#include "daemon/engine.h"
#include "daemon/jobs.h"
#include "daemon/loop.h"
#include "hook/home.h"
#include "ops/operation.h"
#include "os/clock.h"

namespace cairn::daemon {

// Belongs to the loop thread. Stop the threads that it posts to before you destroy it.
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
    JobThread& slow_reader;                             // for slow operations that only read
    std::function<void()> on_stop;                      // called when a client asks the daemon to end
    std::function<void(const std::string&)> on_damage;  // called on a reader's thread; empty: no damage
  };
  // Called once, unless the daemon ends before, on the thread that ran the operation: formatting a large
  // result there does not block the loop.
  using Reply = std::function<void(const Result<Json>&)>;

  explicit Dispatcher(const Parts& parts);

  // Fails with `unsupported` when there is no such operation, with `invalid` when an argument is wrong.
  void request(std::string_view name, const Json& args, Reply reply);

  // Looks for damage in the store, on the thread for slow operations.
  void check_store();

  // The daemon is ending: slow operations stop early.
  void stop() { stopping_ = true; }

 private:
  // A reading thread and its connection, which only that thread uses.
  struct Reader {
    JobThread& thread;
    std::optional<store::Db> db;
  };
  Result<store::Db> open_to_read();
  void run_daemon_task(const ops::Operation& operation, const Json& args, const Reply& reply);
  void read(Reader& reader, const ops::Operation& operation, const Json& args, Reply reply);
  Result<Json> run_reader(Reader& reader, const ops::Operation& operation, const Json& args);
  struct Drain;
  void process(const ops::Args& args, Reply reply);
  void drain(const std::shared_ptr<Drain>& work);
  void look_again(const std::shared_ptr<Drain>& work);
  void test_agent(const ops::Args& args, Reply reply);
  void look_at_test(int id);
  Json about_daemon() const;

  Parts parts_;
  std::int64_t started_boot_ns_;
  std::atomic<bool> stopping_ = false;
  Reader reader_;
  Reader slow_reader_;
  // The tests of a provider that run, each with its reply; used by the writer's thread only.
  std::map<int, std::pair<std::unique_ptr<AgentTest>, Reply>> agent_tests_;
  int next_test_ = 0;
  const std::string key_;
};

}  // namespace cairn::daemon
