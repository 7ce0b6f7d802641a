#include <algorithm>

#include "hook/failures.h"
#include "intake/inbox_reader.h"
#include "ops/operation.h"
#include "store/budget.h"
#include "store/open_items.h"
#include "store/open_store.h"
#include "store/queue_admin.h"

namespace cairn::ops {

static std::int64_t size_of(os::Disk& disk, const std::string& path) {
  const auto stat = disk.stat(path);
  return stat ? static_cast<std::int64_t>(stat->size) : 0;
}

// The number of waiting events. Files with other names do not count.
static std::int64_t count_in(os::Disk& disk, const std::string& directory) {
  std::int64_t events = 0;
  if (const auto names = disk.list(directory))
    for (const std::string& name : *names) events += intake::InboxReader::is_event_file(name);
  return events;
}

static std::int64_t size_in(os::Disk& disk, const std::string& directory) {
  std::int64_t total = 0;
  if (const auto names = disk.list(directory))
    for (const std::string& name : *names) total += size_of(disk, directory + "/" + name);
  return total;
}

static Result<std::int64_t> count(store::Db& db, std::string_view sql) {
  return TRY(db.integer(sql)).value_or(0);
}

// A tool call that only a transcript has counts as missing after a minute: until then its hook may still
// arrive.
static Result<Json> ledger(World& world, std::int64_t waiting) {
  constexpr std::int64_t kOnItsWayMs = 60'000;
  const std::int64_t all = TRY(count(world.db, "SELECT count(*) FROM events"));
  const std::int64_t told = TRY(count(world.db, "SELECT count(*) FROM events WHERE source = 'transcript'"));
  const std::int64_t recovered =
      TRY(count(world.db, "SELECT count(*) FROM events WHERE source = 'transcript' AND outcome = 'stored'"));
  const auto untold = TRY(
      world.db.integer("SELECT count(*) FROM transcript_calls WHERE outcome = 'waiting' AND at_epoch <= ?",
                       epoch_ms(world.clock.now()) - kOnItsWayMs));
  Json counted = Json::object();
  store::Stmt row = TRY(world.db.query(
      "SELECT outcome, count(*) FROM events WHERE outcome <> 'stored' AND source = 'hook' GROUP BY outcome"));
  while (TRY(row.step())) counted.set(row.text(0), row.integer(1));
  return Json::object({{"delivered", all - told + waiting},
                       {"taken_in", all - told},
                       {"recovered", recovered},
                       {"gap", waiting + untold.value_or(0)},
                       {"counted", counted}});
}

static Json sizes(World& world) {
  const std::string database = world.home.database();
  const std::int64_t store = size_of(world.disk, database), wal = size_of(world.disk, database + "-wal");
  std::int64_t inbox = 0;
  for (const char* part : {"/tmp", "/new", "/cur", "/bad"})
    inbox += size_in(world.disk, world.home.inbox() + part);
  const std::int64_t logs = size_in(world.disk, world.home.logs());
  return Json::object({{"database", store},
                       {"wal", wal},
                       {"inbox", inbox},
                       {"logs", logs},
                       {"total", store + wal + inbox + logs}});
}

static store::SessionBudget budget_of(const Settings& settings) {
  return {settings.integer("budget.session_observations"), settings.integer("budget.warn_percent")};
}

static Result<Json> budget(World& world) {
  return Json::object({{"session_observations", budget_of(world.settings).observations},
                       {"sessions_near_limit", TRY(store::sessions_near_limit(world.db))}});
}

// Active sessions that are near their limit of observations.
static Status tell_near_limit(World& world, Json& list) {
  const store::SessionBudget limit = budget_of(world.settings);
  store::Stmt row = TRY(world.db.query(
      "SELECT s.content_session_id, (SELECT count(*) FROM observations o WHERE o.memory_session_id = "
      "s.memory_session_id) AS used FROM sdk_sessions s WHERE s.status = 'active' AND used >= ? AND "
      "used > 0 ORDER BY s.id",
      limit.warn_at()));
  while (TRY(row.step()))
    list.push("session " + row.text(0) + " has " + row.text(1) + " of " + std::to_string(limit.observations) +
              " observations; beyond that its events are kept as evidence only: `cairn config set "
              "budget.session_observations` changes the limit");
  return {};
}

// Problems that the user should know: each with its cause and what to do.
static Result<Json> problems(World& world, std::int64_t waiting) {
  Json list = Json::array();
  for (const auto& problem : world.settings.problems())
    list.push(problem.message + ": fix it with `cairn config set`");
  const std::int64_t bad =
      TRY(count(world.db, "SELECT count(*) FROM events WHERE outcome <> 'stored' AND outcome = 'bad'"));
  if (bad > 0)
    list.push(std::to_string(bad) + (bad == 1 ? " event" : " events") +
              " could not be read: quarantined in " + world.home.inbox() +
              "/bad; `cairn logs` says why, `cairn process --again` tries again");
  // Failures that the daemon has not counted yet: on a full disk it cannot.
  const auto noted = hook::read_failures(world.disk, world.home);
  const auto counted =
      TRY(world.db.integer("SELECT value - coalesce((SELECT value FROM meta WHERE key = "
                           "'failed_deliveries_made_good'), 0) FROM meta WHERE key = 'failed_deliveries'"));
  const std::int64_t unwritten = counted.value_or(0) + static_cast<std::int64_t>(noted.size());
  if (unwritten > 0)
    list.push(std::to_string(unwritten) + (unwritten == 1 ? " event" : " events") +
              " could not be written to the inbox (" +
              (noted.empty() || noted.back().why.empty() ? "full disk, or no permission" : noted.back().why) +
              "): check " + world.home.inbox() +
              "; once it can be written, they are recovered from transcripts");
  if (const auto error = TRY(world.db.text("SELECT value FROM meta WHERE key = 'intake_error'")))
    list.push("intake: " + *error);
  if (const auto damage = TRY(store::recent_damage(world.db, world.clock.now()))) list.push(*damage);
  if (waiting > 1000)
    list.push(std::to_string(waiting) + " events are pending in the inbox: `cairn process` reads them now");
  if (const auto depth = TRY(store::queue_counts(world.db)).work(); depth > store::kDeepQueue)
    list.push(std::to_string(depth) +
              " messages are pending in the queue: `cairn queue stats` says whose, `cairn logs` why");
  TRY(tell_near_limit(world, list));
  if (!world.settings.flag("capture.enabled"))
    list.push("capture is off: `cairn config set capture.enabled true` turns it on");
  return list;
}

static Result<Json> status(World& world, const Args&) {
  const std::int64_t waiting =
      count_in(world.disk, world.home.inbox() + "/new") + count_in(world.disk, world.home.inbox() + "/cur");
  const auto queue = TRY(store::queue_counts(world.db));
  const auto last = TRY(world.db.integer("SELECT max(last_event_at_epoch) FROM sdk_sessions"));
  Json out = Json::object();
  if (!world.daemon.is_null()) out.set("daemon", world.daemon);
  out.set("home", world.home.data);
  out.set("queue", Json::object({{"pending", queue.pending},
                                 {"processing", queue.processing},
                                 {"processed", queue.processed},
                                 {"failed", queue.failed}}));
  out.set("inbox", waiting);
  out.set("ledger", TRY(ledger(world, waiting)));
  out.set("sessions", TRY(count(world.db, "SELECT count(*) FROM sdk_sessions WHERE hidden = 0")));
  out.set("sessions_active",
          TRY(count(world.db, "SELECT count(*) FROM sdk_sessions WHERE status = 'active' AND hidden = 0")));
  out.set("projects", TRY(count(world.db, "SELECT count(*) FROM projects")));
  out.set("summaries",
          TRY(count(world.db, "SELECT count(*) FROM session_summaries WHERE deleted_at IS NULL")));
  out.set("observations", TRY(count(world.db, "SELECT count(*) FROM observations WHERE deleted_at IS NULL")));
  out.set("open_items", TRY(store::count_open_items(world.db, std::nullopt)));
  out.set("last_activity_at", last ? Json(iso8601(from_epoch_ms(*last))) : Json());
  out.set("provider", world.settings.text("agent.provider"));
  out.set("budget", TRY(budget(world)));
  out.set("sizes", sizes(world));
  out.set("problems", TRY(problems(world, waiting)));
  return out;
}

std::vector<Operation> status_operations() {
  return {{.name = "status",
           .group = Group::work,
           .summary = "what is remembered, what is pending, what is wrong",
           .help = "The ledger balances when every event that a hook delivered has been read: its gap is 0. "
                   "Problems stand last, each with what to do.",
           .body = status}};
}

}  // namespace cairn::ops
