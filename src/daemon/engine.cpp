#include "daemon/engine.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "archive/call.h"
#include "documents/trash.h"
#include "forget/tombstones.h"
#include "hook/control.h"
#include "ops/agent.h"
#include "ops/backup.h"
#include "ops/mode.h"
#include "ops/policy.h"
#include "ops/provider.h"
#include "store/archive.h"
#include "store/corrections.h"
#include "store/events.h"
#include "store/meta.h"
#include "store/open_store.h"
#include "store/project_links.h"
#include "store/queue_admin.h"
#include "store/receipts.h"
#include "store/reindex.h"
#include "store/transcripts.h"

namespace cairn::daemon {

static constexpr int kGroupsPerSync = 8;  // groups of events
// What one transaction of background work handles. A hook that asks for an answer waits for it to end.
static constexpr std::int64_t kReindexed = 100;  // records
static constexpr std::int64_t kExpired = 200;    // pieces of evidence

// The home's secret: 32 random bytes, created once. A key that exists but is invalid is never replaced: the
// tombstones were made with it and would match nothing under another one.
static Result<std::string> load_key(os::Disk& disk, const hook::Home& home) {
  auto known = os::read_file(disk, home.key(), 64, os::Open::read_own);
  if (known && known->size() == 32) return known;
  if (known || known.error().code == Code::invalid)
    return Error{Code::corrupt,
                 home.key() +
                     " is not a key of 32 bytes of yours: restore it from a copy. If you remove "
                     "it, a new key is made, and what was forgotten can come back"};
  if (known.error().code != Code::not_found) return std::move(known).error().in("key");
  std::string key(32, '\0');
  if (getrandom(key.data(), key.size(), 0) != 32) return Error{Code::internal, "no random bytes"};
  TRY(os::replace_file(disk, home.key(), key));
  return key;
}

Engine::Engine(const hook::Home& home, const Seams& seams, store::Db db, std::string key)
    : home_(home),
      seams_(seams),
      db_(std::move(db)),
      key_(std::move(key)),
      live_settings_(seams_.disk, home_),
      settings_(ops::Settings::defaults()),
      intake_(db_, seams_.disk, seams_.clock, seams_.processes, home_.inbox(), seams_.log),
      catch_up_(db_, seams_.disk, seams_.clock, seams_.processes, intake_.recorder(), seams_.log),
      repository_reader_(db_, seams_.disk, seams_.clock, seams_.log),
      mover_(db_),
      binding_(db_, seams_.disk, seams_.clock),
      archiver_(db_, seams_.disk, seams_.clock, seams_.log, home_.data),
      passages_(db_, seams_.disk, seams_.clock, seams_.log, home_.data),
      event_indexer_(db_, seams_.clock, seams_.log),
      import_(db_, seams_.disk, seams_.clock, catch_up_, seams_.log),
      memories_(db_, seams_.disk, seams_.clock, seams_.log, home_.data),
      forget_(db_, seams_.disk, seams_.clock, seams_.log, home_.data, key_),
      worker_(db_, seams_.clock, seams_.log, seams_.provider) {}

Result<std::unique_ptr<Engine>> Engine::open(const hook::Home& home, const Seams& seams) {
  TRY(os::make_dirs(seams.disk, home.data));
  std::string key = TRY(load_key(seams.disk, home));
  store::Db::Options options;
  options.path = home.database();
  options.vfs = seams.vfs;
  options.exclusive = seams.exclusive;
  store::Db db = TRY(store::open_store(seams.disk, seams.clock, options, seams.log));
  std::unique_ptr<Engine> engine(new Engine(home, seams, std::move(db), std::move(key)));
  TRY(engine->start());
  return engine;
}

Engine::~Engine() {
  if (auto synced = sync(); !synced) seams_.log.error("sync: " + synced.error().message);
  store::note_clean_close(seams_.disk, db_, home_.database());
}

Status Engine::start() {
  reload();
  // What a dead daemon had claimed from the queue goes back before anything is claimed again.
  TRY(in_transaction([&]() -> Status {
    log_recovered(TRY(store::recover_all(db_, max_retries(), seams_.clock.now())));
    return {};
  }));
  TRY(worker_.start());
  recorded_error_ = TRY(store::meta_text(db_, store::kIntakeError)).has_value();
  // Before intake quarantines more. An error here, such as a full disk, does not prevent the start.
  if (auto tried = try_bad_again_once(); !tried) seams_.log.error("inbox/bad: " + tried.error().message);
  TRY(intake_.start());
  return run_minute_work();
}

// This version may be able to read events that another version quarantined.
Status Engine::try_bad_again_once() {
  if (TRY(store::meta_text(db_, store::kBadTriedBy)) == CAIRN_VERSION) return {};
  TRY(intake_.try_bad_again());
  return store::put_meta(db_, store::kBadTriedBy, CAIRN_VERSION);
}

// After a rollback the recorder must forget the turns that the body ended, and what should follow the commit
// (after_commit_) is dropped.
Status Engine::in_transaction(const std::function<Status()>& body) {
  auto done = store::in_transaction(db_, body);
  if (!done) intake_.recorder().discard();
  for (const auto& then : std::exchange(after_commit_, {}))
    if (done) then();
  return done;
}

static archive::Archiver::Options archive_options(const ops::Settings& settings) {
  archive::Archiver::Options options;
  options.enabled = settings.flag("capture.enabled");
  options.copy.redact = settings.flag("archive.redact");
  options.copy.level = static_cast<int>(settings.integer("archive.level"));
  options.keep = ops::keep_of(settings);
  return options;
}

void Engine::reload() {
  apply_settings(*live_settings_.reload());
}

agent::Worker::Options Engine::work_options(const store::SessionBudget& budget) {
  agent::Worker::Options work;
  work.budget = budget;
  work.max_retries = max_retries();
  work.lease = std::chrono::seconds(settings_.integer("queue.stuck_seconds"));
  work.batch_events = static_cast<std::size_t>(settings_.integer("agent.batch_max_events"));
  work.batch_wait = std::chrono::seconds(settings_.integer("agent.batch_wait_seconds"));
  work.max_concurrent = static_cast<std::size_t>(settings_.integer("agent.max_concurrent"));
  work.fallback = settings_.text("agent.fallback") == event::kBuiltin;
  work.daily = ops::daily_budget(settings_);
  work.prices = settings_.list("agent.prices");
  work.archived = [this](const store::Session& session, std::vector<store::KeptEvent>& events) {
    const store::TranscriptKey key{session.platform, session.content_id.value, ""};
    if (auto filled = archive::fill_texts(db_, seams_.disk, home_.data + "/archive", key, events); !filled)
      seams_.log.warn("archive: " + filled.error().message);
  };
  return work;
}

void Engine::apply_settings(const ops::Settings& settings) {
  settings_ = settings;
  for (const auto& problem : settings_.problems()) seams_.log.warn("config: " + problem.message);
  if (const auto level = log_level(settings_.text("log.level"))) seams_.log.set_level(*level);
  intake::Intake::Options options;
  options.max_field = static_cast<std::size_t>(settings_.integer("evidence.max_field_kb")) << 10;
  gate::Rules rules = ops::gate_rules(seams_.disk, settings_, key_);
  if (auto forgotten = forget::load_forgotten(db_, key_)) {
    rules.forgotten = *std::move(forgotten);
  } else {
    seams_.log.error("tombstones: " + forgotten.error().message);
    // The previous ones: without any, what was forgotten could be stored again.
    rules.forgotten = intake_.gate().forgotten_shared();
  }
  forget_.look_again();
  const gate::Gate gate(std::move(rules));
  intake_.configure(gate, options);
  catch_up_.configure(gate, options.max_field);
  memories_.configure(gate);
  repository_reader_.configure(intake_.gate());
  archiver_.configure(gate, archive_options(settings_));
  const auto loaded = ops::load_mode(seams_.disk, home_, settings_.text("agent.mode"));
  const distil::Mode& mode = loaded ? *loaded : distil::code_mode();  // `status` reports a bad mode
  intake_.recorder().set_mode(mode);
  store::SessionBudget budget{settings_.integer("budget.session_observations"),
                              settings_.integer("budget.warn_percent")};
  if (const auto gone = intake_.gate().forgotten_shared())
    budget.was_forgotten = [gone](std::string_view text) { return gone->is_whole(text); };
  intake_.recorder().set_budget(budget);
  intake_.recorder().set_automatic(settings_.automation() == ops::Automation::automatic);
  worker_.configure(work_options(budget), gate, mode);
  choose_provider();
  // Every hook reads hook.flags: it is rewritten only when something changed.
  const std::string flags = settings_.hook_flags().encode();
  const auto known = os::read_file(seams_.disk, home_.flags(), 4096);
  if (!known || *known != flags) {
    note_capture();  // record the state hooks saw before hook.flags is overwritten
    if (auto written = os::replace_file(seams_.disk, home_.flags(), flags); !written)
      seams_.log.error("hook.flags: " + written.error().message);
  }
  note_capture();
}

// The provider is replaced only when its own settings changed: its conversations go on otherwise.
void Engine::choose_provider() {
  if (!seams_.make_provider) return;
  const agent::ProviderSettings wanted = ops::provider_settings(settings_);
  if (wanted == chosen_) return;
  auto provider = seams_.make_provider(wanted);
  if (auto used = worker_.use(provider.get()); !used) {
    seams_.log.error("provider: " + used.error().message);
    return;  // chosen_ is as it was: the next reload tries again
  }
  provider_ = std::move(provider);
  chosen_ = wanted;
  seams_.log.info("provider=" + chosen_.provider + (chosen_.model.empty() ? "" : " model=" + chosen_.model));
}

// Hooks follow hook.flags, so its modification time is when capture was switched.
void Engine::note_capture() {
  const auto file = seams_.disk.stat(home_.flags());
  if (!file) return;
  const std::int64_t changed = file->modified_ns / 1'000'000;
  if (changed == flags_changed_) return;
  const auto flags = os::read_file(seams_.disk, home_.flags(), hook::Flags::kBytes);
  const bool on = hook::Flags::decode(flags ? *flags : "").capture, start = flags_changed_ == 0;
  auto noted = in_transaction([&] { return store::note_capture(db_, on, from_epoch_ms(changed), start); });
  if (noted)
    flags_changed_ = changed;
  else
    seams_.log.error("capture: " + noted.error().message);
}

std::string Engine::intake_error() const {
  const std::lock_guard lock(intake_error_mutex_);
  return intake_error_;
}

// Keeps an intake error for `status` until intake works again: in memory, because a full disk takes no row,
// and in meta for commands that run without a daemon.
Result<bool> Engine::read_inbox() {
  auto taken = intake_.step();
  const std::string& error = taken ? intake_.trouble() : taken.error().message;
  {
    const std::lock_guard lock(intake_error_mutex_);
    intake_error_ = error;
  }
  if (error.empty()) {
    if (recorded_error_ && store::delete_meta(db_, store::kIntakeError)) recorded_error_ = false;
  } else if (!recorded_error_) {
    recorded_error_ = store::put_meta(db_, store::kIntakeError, error).ok();
  }
  return taken;
}

Status Engine::stop() {
  TRY(sync());
  return worker_.stop();
}

// Events come first, then one piece of the first background work that has any. After each piece the inbox is
// looked at again, and hooks are answered between two steps. Intake itself waits for the disk only when the
// inbox is empty, or after kGroupsPerSync groups (docs/decisions/0034).
Result<bool> Engine::step() {
  auto taken = without_waiting([&] { return read_inbox(); });
  // An error of intake is returned only after the sync below: groups before it may hold files.
  if (taken && *taken && ++groups_ < kGroupsPerSync) return true;
  groups_ = 0;
  if (intake_.is_holding_files()) TRY(sync());
  if (TRY(std::move(taken))) return true;
  if (archiver_.step()) return true;
  // A forget rewrites files of the archive, which a copy in progress must find unchanged.
  if (!archiver_.is_copying() && TRY(forget_.step())) {
    intake_.recorder().read_again();  // its digests may hold text that was just removed
    if (forget_.take_changed()) reload();
    return true;
  }
  if (TRY(mover_.step())) return true;
  if (TRY(write_document())) return true;
  if (TRY(worker_.step())) return true;
  if (TRY(intake_.recorder().step())) return true;
  if (TRY(catch_up_.step())) return true;
  if (TRY(binding_.step())) return true;
  if (TRY(repository_reader_.step())) return true;
  if (archiver_.sweep_step()) return true;
  if (copied_ != archiver_.copied()) passages_.look_again();
  copied_ = archiver_.copied();
  if (passages_.step()) return true;
  if (TRY(reindex())) return true;
  if (event_indexer_.step()) return true;
  if (TRY(import_.step())) return true;
  if (TRY(memories_.step())) return true;  // after the transcripts: no session is stored twice
  if (TRY(expire())) return true;
  TRY(note_recovered());
  TRY(sync());
  return false;
}

int Engine::max_retries() const {
  return static_cast<int>(settings_.integer("queue.max_retries"));
}

void Engine::log_recovered(const store::Recovered& recovered) {
  const std::int64_t all = recovered.waiting + recovered.failed;
  if (all > 0)
    seams_.log.info(
        fmt::format("queue recovered {} messages from processing, {} of them failed", all, recovered.failed));
}

store::Retention Engine::retention() const {
  return {settings_.integer("evidence.keep_days"),
          static_cast<std::int64_t>(settings_.decimal("store.max_gb") * (1u << 30))};
}

// A rebuild of the search index, in short transactions.
Result<bool> Engine::reindex() {
  if (!TRY(store::is_reindexing(db_))) return false;
  TRY(in_transaction([&]() -> Status {
    TRY(store::reindex_step(db_, kReindexed));
    return {};
  }));
  passages_.look_again();
  return true;
}

// Removes expired evidence: checked once a minute, then done in pieces between other work.
Result<bool> Engine::expire() {
  if (!expiring_) return false;
  std::int64_t removed = 0;
  TRY(in_transaction([&]() -> Status {
    removed = TRY(store::expire_evidence(db_, retention(), kExpired));
    return {};
  }));
  expiring_ = removed > 0;
  return expiring_;
}

// Logs once when the queue exceeds its limit, and once when it is below it again: monitoring can search for
// this line.
Status Engine::watch_queue() {
  const std::int64_t depth = TRY(store::queue_counts(db_)).work();
  const bool deep = depth > store::kDeepQueue;
  if (deep == was_deep_) return {};
  was_deep_ = deep;
  const std::string line =
      fmt::format("queue alarm={} depth={} limit={}", deep ? "on" : "off", depth, store::kDeepQueue);
  deep ? seams_.log.warn(line) : seams_.log.info(line);
  return {};
}

Status Engine::tick() {
  reload();
  return run_minute_work();
}

Status Engine::run_minute_work() {
  intake_.sweep();
  catch_up_.look_again();
  // The expiry limit moves by the time that a daemon ran, in boot time: a wall clock that jumps must not
  // expire everything (docs/decisions/0009).
  const std::int64_t boot = seams_.clock.boot_ns();
  const Millis since_limit_moved((limit_moved_ns_ == 0 ? 0 : boot - limit_moved_ns_) / 1'000'000);
  TRY(in_transaction([&]() -> Status {
    TRY(note_failures());
    TRY(intake_.recorder().sweep());
    log_recovered(TRY(store::recover_lapsed(db_, max_retries(), seams_.clock.now())));
    TRY(store::clean(db_, settings_.integer("queue.keep_processed")));
    TRY(watch_queue());
    TRY(documents::empty_trash(db_, seams_.clock.now()));
    TRY(store::hide_expired(db_, seams_.clock.now()));
    if (TRY(store::move_expiry_limit(db_, retention(), seams_.clock.now(), since_limit_moved)) ||
        limit_moved_ns_ == 0)
      limit_moved_ns_ = boot;
    return {};
  }));
  expiring_ = true;
  passages_.look_again();
  return archiver_.look_again();
}

ops::World Engine::world(const ops::Settings& settings) {
  ops::World world{db_, seams_.disk, seams_.clock, home_, settings, key_, &intake_};
  world.archiver = &archiver_;
  return world;
}

Result<Json> Engine::run(const ops::Operation& operation, const Json& args) {
  // Not settings_: an operation sees a change of config.toml at once, the engine with its next reload().
  const auto settings = live_settings_.now();
  ops::World world = this->world(*settings);
  world.intake_error = intake_error();
  world.write_later = [&](const std::function<Status(store::Db&)>& body) {
    write_later(operation.title(), body);
  };
  auto result = operation.run(world, args);
  if (!result) intake_.recorder().discard();
  if (world.settings_changed) reload();
  worker_.look_again();  // it may have asked for turns to be distilled again
  return result;
}

void Engine::write_later(std::string_view operation, const std::function<Status(store::Db&)>& body) {
  if (auto done = store::in_transaction(db_, [&] { return body(db_); }); !done)
    seams_.log.error(std::string(operation) + ": " + done.error().message);
}

Status Engine::end_open_turns() {
  worker_.hurry();
  return in_transaction([&]() -> Status {
    TRY(store::end_waits(db_));
    return intake_.recorder().end_open_turns();
  });
}

}  // namespace cairn::daemon
