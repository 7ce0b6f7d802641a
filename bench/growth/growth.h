// What the cases of bench_growth share: a home with an engine, events for it, and the rows of the table.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/shared/child.h"
#include "daemon/engine.h"
#include "hook/inbox.h"

namespace cairn::bench {

// One line of the table: the same thing measured with little and with much.
struct Row {
  std::string name;
  std::string unit;
  std::string small_name;
  double small = 0;
  std::string large_name;
  double large = 0;
  double limit = 0;  // of large / small; 0: none
  double ratio() const { return small > 0 ? large / small : 0; }
  bool is_exceeded() const { return limit > 0 && ratio() > limit; }
};
using Rows = std::vector<Row>;

struct Scale {
  bool full = false;
  int of(int quick, int full_size) const { return full ? full_size : quick; }
};

// Seconds of processor time that this process has used.
double processor_seconds();
// Megabytes that this process had at most since reset_peak().
double peak_mb();
void reset_peak();
// Bytes that this process has written to disks.
double written_bytes();
// Writes a page to a file in `directory` and waits until it is on the disk: microseconds, the median.
double bare_sync_us(const std::string& directory);

// A home of its own with an engine, without threads: its files are on a real disk.
class Home {
 public:
  explicit Home(const std::string& root);

  daemon::Engine& engine() { return *engine_; }
  store::Db& db() { return engine_->db(); }
  const hook::Home& home() const { return home_; }
  os::RealClock& clock() { return clock_; }
  const std::string& project() const { return project_; }
  // Ends the engine and starts it again; microseconds until it can answer.
  double reopen();

  // Payloads of the host.
  EventId deliver(const std::string& event, const std::string& session, const std::string& rest,
                  const std::string& directory = "");
  void prompt(const std::string& session);
  // A call of a tool that ended; `bytes` of output.
  void call(const std::string& session, std::size_t bytes = 300);
  void stop(const std::string& session);
  void drain();

  // Microseconds from a delivered SessionStart of a new session to its answer.
  double start_us(const std::string& directory = "");
  // The median of several; before each the session `busy`, if any, calls a tool.
  double median_start_us(int rounds, const std::string& busy = "");
  // Milliseconds of an operation, the median.
  double operation_ms(std::string_view name, const Json& args, int rounds = 5);

 private:
  os::RealDisk disk_;
  os::RealClock clock_;
  os::RealProcesses processes_;
  NullLog log_;
  hook::Home home_;
  std::string project_;
  std::unique_ptr<daemon::Engine> engine_;
  int starts_ = 0, calls_ = 0;
};

// The cases; each adds its rows. `root`: a directory of their own.
void measure_turns(const std::string& root, const Scale& scale, Rows& rows);
void measure_store(const std::string& root, const Scale& scale, Rows& rows);
void measure_hooks(const std::string& root, const Scale& scale, Rows& rows);

}  // namespace cairn::bench
