// One definition of each operation: the control socket and the command line (later MCP and HTTP) call these
// by name.
//
// An operation takes a JSON object of arguments and gives a JSON value, documented in docs/reference/json.md;
// the command line only renders it. Arguments that an operation does not name are `invalid`; what is named
// and is not there is `not_found`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "hook/home.h"
#include "intake/intake.h"
#include "ops/settings.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/sql.h"

namespace cairn::ops {

// What an operation may use. `intake` is there for operations that write, on the writer's thread; it is null
// for readers.
struct World {
  store::Db& db;
  os::Disk& disk;
  os::Clock& clock;
  const hook::Home& home;
  const Settings& settings;
  const std::string& key;
  intake::Intake* intake = nullptr;
};

enum class Access { read, write };

struct Operation {
  std::string_view name;
  Access access;
  std::string_view arguments;  // their names, between blanks
  Result<Json> (*body)(World& world, const Json& args);

  // Runs it when `args` is an object (or null) with no other members than those named.
  Result<Json> run(World& world, const Json& args) const;
};

const std::vector<Operation>& operations();
const Operation* find_operation(std::string_view name);

// status            {}                                  the store's side of `cairn status`; the daemon adds
// its own
Result<Json> status(World& world, const Json& args);
// context           {cwd | project, budget?}            {"text","tokens","characters","items","project"}
Result<Json> show_context(World& world, const Json& args);
// context.log       {cwd|project|all, limit?}           {"given":[...]}: what was put before sessions, newest
// first
Result<Json> context_log(World& world, const Json& args);
// search            {query?, cwd|project|all, kind?, type?, concept?, file?, since?, until?, limit?, offset?,
//                    explain?}                          {"results":[...],"more","remembered_since"}
Result<Json> search(World& world, const Json& args);
// timeline          {id | query, cwd|project|all, before?, after?} {"anchor","records":[...]}
Result<Json> timeline(World& world, const Json& args);
// why               {id, full?}                         a record's evidence: {"id",...,"events":[...]}
Result<Json> why(World& world, const Json& args);
// remember          {text, title?, type?, files?, cwd|project} {"id","project","title","redacted"}
Result<Json> remember(World& world, const Json& args);
// projects.list     {limit?}                            {"projects":[...]}, the last one used first
Result<Json> projects_list(World& world, const Json& args);
// projects.show     {cwd|project}                       one of them, with its newest sessions
Result<Json> projects_show(World& world, const Json& args);
// stats             {cwd|project|all}                   sums over what is remembered
Result<Json> stats(World& world, const Json& args);
// show              {ids:["S3","O12","P7"]}             {"records":[...]}
Result<Json> show(World& world, const Json& args);
// sessions.list     {cwd|project|all, limit?}           {"sessions":[...]}
Result<Json> sessions_list(World& world, const Json& args);
// sessions.show     {id, events?}                       one session with its turns, summaries and, if asked
// for, events
Result<Json> sessions_show(World& world, const Json& args);
// sessions.end      {id}
Result<Json> sessions_end(World& world, const Json& args);
// sessions.summarize {id}                               {"id","summaries":["S1",...]}: made again from the
// events
Result<Json> sessions_summarize(World& world, const Json& args);
// sessions.cleanup  {max_age_hours?}                    {"marked":N,"sessions":[...]}: old active ones are
// failed
Result<Json> sessions_cleanup(World& world, const Json& args);
// sessions.repair   {missing_memory_id:true}            {"repaired":N,"sessions":[...]}
Result<Json> sessions_repair(World& world, const Json& args);
// queue.list        {session?, status?, recent?, limit?} {"messages":[...]}; recent is in minutes
Result<Json> queue_list(World& world, const Json& args);
// queue.show        {id}                                one message, all fields
Result<Json> queue_show(World& world, const Json& args);
// queue.retry       {id | session | stuck, older_than_s?} {"retried":N,"failed":N}
Result<Json> queue_retry(World& world, const Json& args);
// queue.abort       {id}                                {"id","aborted",...}
Result<Json> queue_abort(World& world, const Json& args);
// queue.clean       {keep?}                             {"deleted","kept"}
Result<Json> queue_clean(World& world, const Json& args);
// queue.stats       {}                                  counts by status and by session, how long the oldest
// waits
Result<Json> queue_stats(World& world, const Json& args);
// debug.sql         {name?, id?}                        {"sql","columns","rows"}, or {"queries":[...]}
// without a name
Result<Json> debug_sql(World& world, const Json& args);

// probe             {}                                  {"written":true}: a write that is rolled back
Result<Json> probe(World& world, const Json& args);
// Writes and rolls back; why the store cannot be written, else.
Status write_probe(store::Db& db);

// A session by its number, its content id, or a beginning of that which fits only one.
Result<std::int64_t> resolve_session(World& world, const Json& name);

// The project an operation speaks of: `project`, else the one `cwd` belongs to; nothing for `all`. A project
// or directory that is not remembered is `not_found`.
Result<std::optional<std::string>> project_of(World& world, const Json& args);

// A time as results carry it; null when the column is.
Json time_or_null(const store::Stmt& row, int column);

}  // namespace cairn::ops
