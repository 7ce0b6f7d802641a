#include <fmt/format.h>

#include "hook/failures.h"
#include "intake/inbox_reader.h"
#include "ops/agent.h"
#include "ops/backup.h"
#include "ops/operation.h"
#include "store/budget.h"
#include "store/events.h"
#include "store/lost.h"
#include "store/meta.h"
#include "store/open_items.h"
#include "store/open_store.h"
#include "store/queue_admin.h"
#include "store/totals.h"

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

// Delivered = read + still in the inbox. A tool call that only a transcript has counts as missing after a
// minute: until then its hook may still arrive.
static Result<Json> ledger(World& world, std::int64_t waiting) {
  const store::Ledger all = TRY(store::ledger(world.db, world.clock.now() - std::chrono::minutes(1)));
  const std::int64_t taken_in = all.events - all.from_transcripts;
  return Json::object({{"delivered", taken_in + waiting},
                       {"taken_in", taken_in},
                       {"recovered", all.recovered},
                       {"gap", waiting + all.waiting_calls},
                       {"counted", counts_json(all.counted)}});
}

static Json sizes(World& world, std::int64_t archive) {
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
                       {"archive", archive},
                       {"total", store + wal + inbox + logs + archive}});
}

static store::SessionBudget budget_of(const Settings& settings) {
  return {settings.integer("budget.session_observations"), settings.integer("budget.warn_percent")};
}

static Result<Json> budget(World& world) {
  return Json::object({{"session_observations", budget_of(world.settings).observations},
                       {"sessions_near_limit", TRY(store::sessions_near_limit(world.db))}});
}

// Active sessions that are near their limit of observations.
static Status add_near_limit(World& world, Json& list) {
  const store::SessionBudget limit = budget_of(world.settings);
  for (const store::NearLimit& near : TRY(store::active_near_limit(world.db, limit)))
    list.push(
        fmt::format("session {} has {} of {} observations; beyond that its events are kept as evidence "
                    "only: `cairn config set budget.session_observations` changes the limit",
                    near.session.value, near.observations, limit.observations));
  return {};
}

// Problems that the user should know: each with its cause and what to do.
static Result<Json> problems(World& world, std::int64_t waiting) {
  Json list = Json::array();
  for (const auto& problem : world.settings.problems())
    list.push(problem.message + ": fix it with `cairn config set`");
  const std::int64_t bad = TRY(store::count_bad(world.db));
  if (bad > 0)
    list.push(std::to_string(bad) + (bad == 1 ? " event" : " events") +
              " could not be read: quarantined in " + world.home.inbox() +
              "/bad; `cairn logs` says why, `cairn process --again` tries again");
  // Failures that the daemon has not counted yet: on a full disk it cannot.
  const auto noted = hook::read_failures(world.disk, world.home);
  const std::int64_t unwritten =
      TRY(store::count_missing(world.db)) + static_cast<std::int64_t>(noted.size());
  if (unwritten > 0)
    list.push(std::to_string(unwritten) + (unwritten == 1 ? " event" : " events") +
              " could not be written to the inbox (" +
              (noted.empty() || noted.back().why.empty() ? "full disk, or no permission" : noted.back().why) +
              "): check " + world.home.inbox() +
              "; once it can be written, they are recovered from transcripts");
  // What the running daemon knows comes first: on a full disk it could not write the reason to the store.
  const auto recorded = TRY(store::meta_text(world.db, store::kIntakeError));
  const std::string error = world.intake_error.empty() ? recorded.value_or("") : world.intake_error;
  if (!error.empty()) list.push(error.starts_with("intake: ") ? error : "intake: " + error);
  if (const auto damage = TRY(store::recent_damage(world.db, world.clock.now()))) list.push(*damage);
  if (waiting > 1000)
    list.push(std::to_string(waiting) + " events are pending in the inbox: `cairn process` reads them now");
  if (const auto depth = TRY(store::queue_counts(world.db)).work(); depth > store::kDeepQueue)
    list.push(std::to_string(depth) +
              " messages are pending in the queue: `cairn queue stats` says whose, `cairn logs` why");
  TRY(add_archive_problems(world, list));
  TRY(add_near_limit(world, list));
  for (std::string& problem : TRY(agent_problems(world.db, world.settings, world.clock.now())))
    list.push(std::move(problem));
  if (!world.settings.flag("capture.enabled"))
    list.push("capture is off: `cairn config set capture.enabled true` turns it on");
  return list;
}

static Result<Json> status(World& world, const Args&) {
  const std::int64_t waiting =
      count_in(world.disk, world.home.inbox() + "/new") + count_in(world.disk, world.home.inbox() + "/cur");
  const auto queue = TRY(store::queue_counts(world.db));
  const store::Totals totals = TRY(store::totals(world.db, std::nullopt));
  Json out = Json::object();
  if (!world.daemon.is_null()) out.set("daemon", world.daemon);
  out.set("home", world.home.data);
  out.set("queue", Json::object({{"pending", queue.pending},
                                 {"processing", queue.processing},
                                 {"processed", queue.processed},
                                 {"failed", queue.failed}}));
  out.set("inbox", waiting);
  out.set("ledger", TRY(ledger(world, waiting)));
  out.set("sessions", totals.sessions);
  out.set("sessions_active", totals.active_sessions);
  out.set("projects", totals.projects);
  out.set("summaries", totals.summaries);
  out.set("observations", totals.observations);
  out.set("open_items", TRY(store::count_open_items(world.db, std::nullopt)));
  out.set("import", TRY(import_progress(world)));
  out.set("last_activity_at", time_or_null(TRY(store::last_event(world.db))));
  out.set("provider", world.settings.text("agent.provider"));
  out.set("budget", TRY(budget(world)));
  out.set("model", TRY(model_status(world)));
  Json archive = TRY(archive_status(world));
  out.set("sizes", sizes(world, archive["bytes"].as_int()));
  out.set("archive", std::move(archive));
  out.set("problems", TRY(problems(world, waiting)));
  return out;
}

std::vector<Operation> status_operations() {
  return {{.name = "status",
           .group = Group::work,
           .summary = "what is remembered, what is pending, what is wrong",
           .help = "The ledger balances when every event that a hook delivered has been read: its gap is 0. "
                   "Problems come last, each with what to do.",
           .body = status}};
}

}  // namespace cairn::ops
