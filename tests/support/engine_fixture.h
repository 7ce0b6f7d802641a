// A whole machine in memory: disk, clock, processes, hooks that deliver events and the engine that reads
// them.
//
// Crashes, reboots and full disks are calls. Nothing here waits, and nothing touches the real disk.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "daemon/engine.h"
#include "hook/flags.h"
#include "hook/home.h"
#include "os/process.h"
#include "support/events.h"
#include "support/sim_clock.h"
#include "support/sim_disk.h"
#include "support/sim_vfs.h"

namespace cairn::test {

// The value, or the end of the test program with the error's message.
void end_with(const Error& error);
template <class T>
T must(Result<T> result) {
  if (!result.ok()) end_with(result.error());
  return std::move(*result);
}
inline void must(const Status& status) {
  if (!status.ok()) end_with(status.error());
}

// Processes that live until a test kills them.
class FakeProcesses final : public os::Processes {
 public:
  bool alive(const os::ProcessKey& key) override { return key.pid == 0 || !dead_.contains(key.pid); }
  void kill(std::int64_t pid) { dead_.insert(pid); }

 private:
  std::set<std::int64_t> dead_;
};

// Keeps the lines for tests to look at.
class KeptLog final : public Log {
 public:
  bool has(std::string_view part) const;
  std::string all() const { return all_; }

 private:
  void line(std::string_view text) override { all_.append(text).append("\n"); }
  std::string all_;
};

struct Machine {
  SimClock clock;
  SimDisk disk{{.clock = &clock}};
  SimVfs vfs{disk};
  FakeProcesses processes;
  KeptLog log;
  hook::Home home = hook::Home::at("/home/dev/cairn");
  std::unique_ptr<daemon::Engine> engine;
  hook::Flags::Sync sync = hook::Flags::Sync::process;
  os::ProcessKey host{4242, 77};        // the process of the host
  std::string platform;                 // the host's name; empty: Claude Code
  std::string project_dir;              // CLAUDE_PROJECT_DIR
  std::string env_file;                 // CLAUDE_ENV_FILE
  os::Disk* engine_disk = nullptr;      // used by the engine instead of `disk`, from the next open() on
  agent::Provider* provider = nullptr;  // the provider, from the next open() on
  std::vector<EventId> delivered;

  Machine();

  // Starts the daemon's engine; ends an earlier one first.
  Status open();
  void close() { engine.reset(); }
  store::Db& db() { return engine->db(); }

  // A hook runs: a millisecond passes, then the event is in the inbox.
  Result<EventId> try_deliver(const HookCall& call);
  Result<EventId> try_deliver(std::string_view event, std::string_view bytes);
  EventId deliver(const HookCall& call) { return must(try_deliver(call)); }

  // Works until there is nothing left to do.
  Status drain();
  // Sends an event as a hook does and lets the engine read it: deliver() and drain().
  EventId tell(const HookCall& call);
  // deliver() and the answer that the hook would print; confirms it unless `confirm` is false.
  context::Answer ask(const HookCall& call, bool confirm = true);
  // The context of such an answer; empty when it has none.
  static std::string context_of(const context::Answer& answer);

  Result<Json> run(std::string_view operation, Json args = Json::object());

  // The first column of the first row; empty or -1 when there is none.
  std::string text(std::string_view sql);
  std::int64_t number(std::string_view sql);
  // All rows, columns joined by '|', NULL as '-'.
  std::vector<std::string> rows(std::string_view sql);

  std::vector<std::string> files(const std::string& below_inbox);
  void put_file(const std::string& path, std::string_view bytes);
  std::string read(const std::string& path);
};

}  // namespace cairn::test
