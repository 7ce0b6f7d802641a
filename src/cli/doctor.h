// `cairn doctor`: checks each part, and for a failure names its cause and what fixes it.
//
// Checks change nothing and start no daemon. --fix repairs first; --trace plays a session in a temporary
// home.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/client.h"
#include "cli/obstacle.h"
#include "cli/shell.h"
#include "host/hooks.h"
#include "ops/operation.h"
#include "ops/settings.h"
#include "store/sql.h"

namespace cairn::cli {

enum class Verdict { pass, warn, fail, skip };

struct Finding {
  Verdict verdict = Verdict::pass;
  std::string found;  // with its cause, when something is wrong
  std::string fix;    // what to type; empty when nothing is wrong
};
Finding passed(std::string found);
Finding skipped(std::string found);
Finding warned(std::string found, std::string fix);
Finding failed(std::string found, std::string fix);

// How cairn is registered with the default host.
host::Registration look_at_host(Shell& shell);

// The state that the checks look at, read once.
struct Installation {
  Shell& shell;
  ops::Settings settings;
  host::Registration host;
  std::vector<Obstacle> obstacles;
  std::optional<Client> daemon;  // the one that answers
  std::string no_daemon;         // why none does
  bool lock_held = false;
  std::optional<store::Db> db;  // read-only
  std::string no_db;            // why it cannot be read; empty when it does not exist yet
  bool half_made = false;       // the store exists but has no tables yet
  Json status;                  // `cairn status` from the store; null when it cannot be read

  explicit Installation(Shell& shell);
  // Calls `use` with a world for operations that read. There must be a db.
  template <class Use>
  auto with_world(Use&& use) {
    const std::string key = os::read_file(shell.disk(), shell.home().key(), 64).value_or("");
    ops::World world{*db, shell.disk(), shell.clock(), shell.home(), settings, key, nullptr};
    return use(world);
  }
};

struct Check {
  std::string_view group;
  std::string_view name;
  std::function<Finding(Installation&)> run;
};
std::vector<Check> host_checks();
// Those of the other coding agents that are here.
std::vector<Check> agent_checks(Shell& shell);
std::vector<Check> home_checks();
std::vector<Check> store_checks();
std::vector<Check> memory_checks();

// The directories that a home should have, whether they exist or not.
std::vector<std::string> home_directories(const hook::Home& home);
// The directories and files of the home that other users may access.
std::vector<std::string> wrong_modes(os::Disk& disk, const hook::Home& home);

// Fixes what needs no question. Says what was fixed and what was not.
struct Repair {
  std::string text;
  bool done = true;
};
std::vector<Repair> fix_all(Shell& shell);

// One stage of the test session.
struct TraceLine {
  std::string stage;
  Finding finding;
  double ms = 0;
};
std::vector<TraceLine> trace(Shell& shell);

}  // namespace cairn::cli
