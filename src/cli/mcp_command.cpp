// `cairn mcp`: the daemon's operations as tools for a coding agent.
#include <unistd.h>

#include <cstdlib>

#include "cli/client.h"
#include "cli/commands.h"
#include "host/environment.h"
#include "host/host.h"
#include "mcp/server.h"

namespace cairn::cli {

namespace {

// Asks the daemon, over a connection of its own for each call: the daemon may end and come back between two,
// and this process may run for days.
class DaemonMemory final : public mcp::Memory {
 public:
  explicit DaemonMemory(Shell& shell) : shell_(shell) {}

  Result<Json> call(std::string_view operation, const Json& args,
                    const std::function<bool()>& waiting) override {
    TRY(shell_.home().check().in("home"));
    // A daemon of another version will do: after an upgrade it is newer than this process.
    auto client = Client::connect(shell_.home(), shell_.clock());
    if (!client) client = Client::reach(shell_.disk(), shell_.home(), shell_.clock());
    if (!client) return std::move(client).error();
    return client->call(operation, args, std::chrono::seconds(60), waiting);
  }

 private:
  Shell& shell_;
};

// The directory that the agent works in: --cwd, else what the host says in its variable, else where it
// started us.
std::string directory_of_agent(const Shell& shell) {
  if (shell.line().value("cwd")) return shell.directory();
  for (const host::Host* host : host::hosts()) {
    const std::string name(host->project_variable());
    const char* value = name.empty() ? nullptr : std::getenv(name.c_str());
    if (value && *value == '/') return value;
  }
  return shell.directory();
}

}  // namespace

Result<int> mcp_command(Shell& shell) {
  if (isatty(STDIN_FILENO) == 1)
    return Error{Code::invalid,
                 "mcp: it talks to a coding agent, not to a terminal: `cairn install` registers it"};
  DaemonMemory memory(shell);
  mcp::ServerOptions options;
  options.tools = {directory_of_agent(shell), host::session_in_environment().value_or("")};
  mcp::serve(memory, options);
  return 0;
}

}  // namespace cairn::cli
