// The operations: everything that the control socket, the command line and the agent's tools can request.
//
// An operation is one struct beside its handler. Everything comes from its declaration: the check of
// requests, the command `cairn sessions list`, its options, completions, manual page, the schemas of the
// agent's tools, docs/reference/control.md and commands.md. To add one, add a struct to the list of its file.
// The command line prints its result as a plain list unless cli/table.cpp names a page for it.
//
// A handler gets checked arguments and returns a JSON value (docs/reference/json.md). Something that does not
// exist is `not_found`.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "hook/home.h"
#include "intake/intake.h"
#include "ops/argument.h"
#include "ops/settings.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::archive {
class Archiver;
}

namespace cairn::ops {

// What an operation may use.
struct World {
  store::Db& db;
  os::Disk& disk;
  os::Clock& clock;
  const hook::Home& home;
  const Settings& settings;
  const std::string& key;
  intake::Intake* intake = nullptr;             // for operations that write; null for those that read
  Json daemon;                                  // the daemon's state for `status`; null outside of a daemon
  bool settings_changed = false;                // set by an operation that wrote config.toml
  const std::atomic<bool>* stopping = nullptr;  // true: the daemon is ending, slow work must stop
  archive::Archiver* archiver = nullptr;        // as intake
  // For operations that read: posts this to the writer, which runs it in a transaction; null: not possible.
  // The reply does not wait for it and cannot say whether it worked; a failure is logged.
  std::function<void(std::function<Status(store::Db&)>)> write_later;
  std::string intake_error;  // why events wait, as the running daemon knows it
  // Set by run() for a request of an agent: the operation shows records of this project's scope only,
  // whatever the request names; empty: the agent's project is not known yet. Nothing: a person asks.
  std::optional<std::string> only_project = std::nullopt;
};

// The thread that runs it.
enum class Access {
  read,         // the reader's thread, also while the writer is busy
  read_slowly,  // a thread of its own: it may take minutes
  write,        // the writer's thread
  daemon,       // the daemon itself: no handler
};

// What the daemon does for an operation of Access::daemon.
enum class Task { none, ping, process, reload, stop, test_agent };

// Which projects it applies to. `one` adds the arguments `cwd` and `project`, `any` also `all`; exactly one
// of them must be given, unless an argument names a record. The command line takes them from --cwd, --project
// and --all.
enum class Scope { none, one, any };

// The heading under which help shows the command.
enum class Group { none, memory, work, setup, privacy, diagnostics };  // none: there is no command
std::string_view group_title(Group group);

struct Operation {
  std::string_view name;  // "sessions.list"; its command is `cairn sessions list`
  Access access = Access::read;
  Group group = Group::none;
  std::string_view summary = {};  // one line
  std::string_view help = {};     // paragraphs for the command's page
  Scope scope = Scope::none;
  std::vector<Argument> arguments = {};
  // Exactly one of these arguments must be given: "id session stuck". `project` among them: it is enough
  // alone, and beside another one it is the scope.
  std::string_view one_of = {};
  Result<Json> (*body)(World& world, const Args& args) = nullptr;
  Task task = Task::none;

  // "sessions list"
  std::string title() const;
  const Argument* find(std::string_view argument) const;

  // Checks the arguments of a request (an object or null): types, ranges, missing, unknown and conflicting
  // ones. An error names the argument and what is allowed, and never repeats a value, which may be a secret.
  // Every way in passes through here; the command line has its own spelling.
  Result<Args> check(const Json& args, Spelling spelling = Spelling::request) const;
  // check() and then the handler.
  Result<Json> run(World& world, const Json& args) const;
  // The error for an argument that this operation does not have, and for a word too many on a command line.
  Error unknown(std::string_view argument, Spelling spelling) const;
  Error word_too_many() const;
};

// All of them, in the order in which help and documents show them.
const std::vector<Operation>& operations();
const Operation* find_operation(std::string_view name);
// Runs the operation `name`, which must exist.
Result<Json> run_operation(std::string_view name, World& world, const Json& args = Json::object());

// The operations of each file, for operations().
std::vector<Operation> provider_operations();
std::vector<Operation> agent_operations();
std::vector<Operation> backup_operations();
std::vector<Operation> capture_operations();
std::vector<Operation> context_operations();
std::vector<Operation> correct_operations();
std::vector<Operation> daemon_operations();
std::vector<Operation> debug_operations();
std::vector<Operation> document_operations();
std::vector<Operation> fix_operations();
std::vector<Operation> export_operations();
std::vector<Operation> forget_operations();
std::vector<Operation> import_operations();
std::vector<Operation> open_operations();
std::vector<Operation> policy_operations();
std::vector<Operation> project_operations();
std::vector<Operation> queue_operations();
std::vector<Operation> record_operations();
std::vector<Operation> reindex_operations();
std::vector<Operation> remember_operations();
std::vector<Operation> resume_operations();
std::vector<Operation> scan_operations();
std::vector<Operation> search_operations();
std::vector<Operation> session_operations();
std::vector<Operation> session_repair_operations();
std::vector<Operation> handoff_operations();
std::vector<Operation> stats_operations();
std::vector<Operation> status_operations();
std::vector<Operation> undo_operations();

// The largest limit of a list.
inline constexpr std::int64_t kMostRows = 1'000'000;

// How far an import is.
Result<Json> import_progress(World& world);

// Writes and rolls back. Fails when the store cannot be written.
Status write_probe(store::Db& db);

// A session by its number, its content id, or a unique beginning of that.
Result<store::Session> resolve_session(World& world, const std::string& name);

// The project of a request of Scope::any; nothing for `all`. Fails with `not_found` when cairn does not know
// it.
Result<std::optional<std::string>> project_of(World& world, const Args& args);
// The same for Scope::one.
Result<std::string> one_project(World& world, const Args& args);
// The project that a directory belongs to.
Result<std::string> project_at(World& world, const std::string& directory);

// The argument `agent` of operations that an agent may request. With it the request is bound to the project
// of `cwd`: other projects are refused, and their records do not exist, unless recall.agent_scope allows all.
Argument asked_by_agent();
// The argument `by`: who wrote what is to be stored, a person (the default) or an agent.
Argument written_by(std::string_view meaning);
bool by_agent(const Args& args);
// Whether the request may see records of that project (World::only_project).
Result<bool> may_see(World& world, const std::string& project);

// The value for a result; null when there is none.
Json time_or_null(const std::optional<WallTime>& time);
Json number_or_null(const std::optional<std::int64_t>& number);
// {"name": count}, in their order.
Json counts_json(const store::Counts& counts);

}  // namespace cairn::ops
