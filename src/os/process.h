// Other processes: who called us, which still run, and how to start the daemon without descriptors or
// variables of the host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn::os {

// A process that cannot be confused with a later one of the same pid.
struct ProcessKey {
  std::int64_t pid = 0;
  std::uint64_t start = 0;  // field 22 of /proc/PID/stat, in clock ticks since boot
  bool operator==(const ProcessKey&) const = default;
};

// The process table, injected. Thread-safe.
class Processes {
 public:
  virtual ~Processes() = default;
  // Whether that very process runs (a zombie does not). pid 0 is unknown and counts as alive.
  virtual bool alive(const ProcessKey& key) = 0;
};

class RealProcesses final : public Processes {
 public:
  bool alive(const ProcessKey& key) override;
};

// The nearest ancestor of this process that is not a shell; {0,0} when /proc does not say.
ProcessKey nearest_host();

// The path of the running executable; empty when it cannot be read.
std::string executable_path();

// Whether this user may run the program at `path`.
bool may_run(const std::string& path);

// The path of the program on PATH; empty when there is none. Relative entries of PATH are not searched.
std::string find_program(std::string_view name);

// Opens /dev/null where one of the descriptors 0 to 2 is closed. Else a file that is opened later would take
// its number: it would be read as stdin, or be printed to.
void open_standard_descriptors();

// `texts` as exec wants them: their addresses, then null. Valid as long as the texts are.
std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

// The variables of `environment` that the daemon keeps: HOME PATH LANG LC_* TZ USER LOGNAME TMPDIR XDG_*
// CAIRN_* (but not CAIRN_DISABLE and CAIRN_AGENT), proxies, certificates and provider keys; nothing of the
// host's session.
std::vector<std::string> reduced_environment(char** environment);
// The variables among them that any program needs: HOME PATH LANG LC_* TZ USER LOGNAME TMPDIR XDG_*.
std::vector<std::string> plain_environment(char** environment);

// Starts `argv` detached: own session, cwd /, stdin, stdout and stderr on /dev/null, every other descriptor
// closed, environment as given. Does not wait for it. Returns its pid, or why it could not be started.
Result<std::int64_t> spawn_detached(const std::string& executable, const std::vector<std::string>& argv,
                                    const std::vector<std::string>& environment);

}  // namespace cairn::os
