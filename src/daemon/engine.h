// The daemon's work as step functions, without threads: intake, queue, answers, timers.
//
// In production the writer's thread calls them, in the simulation a test does. The engine has the only
// read-write connection: everything that writes goes through it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "agent/providers/factory.h"
#include "agent/worker.h"
#include "archive/archiver.h"
#include "archive/passages.h"
#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "context/answer.h"
#include "context/help.h"
#include "forget/job.h"
#include "hook/home.h"
#include "import/memories.h"
#include "import/transcripts.h"
#include "intake/catch_up.h"
#include "intake/file_binding.h"
#include "intake/intake.h"
#include "intake/project_identity.h"
#include "ops/live_settings.h"
#include "ops/operation.h"
#include "ops/settings.h"
#include "os/clock.h"
#include "os/disk.h"
#include "os/process.h"
#include "recall/event_indexer.h"
#include "store/project_move.h"
#include "store/queue.h"
#include "store/retention.h"
#include "store/sql.h"

namespace cairn::daemon {

// Belongs to the writer's thread.
class Engine {
 public:
  struct Seams {
    os::Disk& disk;
    os::Clock& clock;
    os::Processes& processes;
    Log& log;
    std::string vfs;                      // of SQLite; empty: its default
    bool exclusive = false;               // the simulated disk has no shared memory
    agent::Provider* provider = nullptr;  // null: the one that `make_provider` makes, if it is set
    // Makes the provider that the settings name; null for the built-in distiller.
    std::function<std::unique_ptr<agent::Provider>(const agent::ProviderSettings&)> make_provider = nullptr;
  };

  // Opens or creates the store of `home`, upgrades its schema, and recovers what a dead daemon left.
  static Result<std::unique_ptr<Engine>> open(const hook::Home& home, const Seams& seams);
  ~Engine();

  // Does one piece of work: a group of events, else a piece of the first background job that has one
  // (backups, forgets, the queue, transcripts, the index, imports, retention). False: nothing to do.
  Result<bool> step();

  // Call once a minute: handles dead hosts, idle turns, expired leases, leftovers in the inbox, retention and
  // changed settings.
  Status tick();

  // The answer to an event that a hook has just delivered. Reads the event from the inbox first, but not
  // beyond `deadline` (boot ns). What it stores survives the death of the process at once, that of the
  // machine after the next sync(); until then the event's file stays in the inbox.
  Result<context::Answer> answer(const EventId& event, std::int64_t deadline);
  Status confirm(std::int64_t receipt);
  // Makes durable what was committed without waiting for the disk, and removes the files of its events.
  // step() does it when the inbox is empty or after some groups of events, confirm() always.
  Status sync();

  // Reads config.toml again and rewrites hook.flags when they changed.
  void reload();

  // Runs an operation that writes.
  Result<Json> run(const ops::Operation& operation, const Json& args);
  // Does in a transaction what an operation left to the writer (ops::World::write_later). A failure is
  // logged: the operation's reply may be sent already.
  void write_later(std::string_view operation, const std::function<Status(store::Db&)>& body);
  // Messages that this engine has finished.
  std::int64_t processed() const { return worker_.processed(); }
  // Whether a provider's reply is pending.
  bool awaits() const { return worker_.awaits(); }
  // When step() must be called again even if nothing arrives (boot ns); nothing: no need.
  std::optional<std::int64_t> wake_at() const { return worker_.wake_at(); }
  // Ends all conversations with the provider: the last call before the daemon ends.
  Status stop();
  // Events that wait in the inbox.
  Result<std::size_t> waiting() { return intake_.waiting(); }
  // Moves quarantined events back to the inbox; returns how many.
  Result<std::size_t> try_bad_again() { return intake_.try_bad_again(); }
  // Ends every open turn and makes every retry due: the start of `process --wait`.
  Status end_open_turns();

  const ops::Settings& settings() const { return settings_; }
  // A provider of its own for a test of `settings`; null for the built-in distiller.
  std::unique_ptr<agent::Provider> make_provider(const agent::ProviderSettings& settings) const {
    return seams_.make_provider ? seams_.make_provider(settings) : nullptr;
  }
  // The settings for requests on other threads.
  ops::LiveSettings& live_settings() { return live_settings_; }
  // Why events wait in the inbox; empty when intake works. Thread-safe.
  std::string intake_error() const;
  const std::string& key() const { return key_; }
  store::Db& db() { return db_; }
  intake::Recorder& recorder() { return intake_.recorder(); }

 private:
  Engine(const hook::Home& home, const Seams& seams, store::Db db, std::string key);
  Status start();
  // What helps at that event, if the settings want it.
  Result<std::optional<context::Answer>> help(const EventId& event);
  Status run_minute_work();
  Result<context::Answer> find_answer(const EventId& event, std::int64_t deadline);
  // Runs `body` with commits that do not wait for the disk; sync() waits for all of them. Files of events
  // that it stores stay in the inbox until then.
  template <class Body>
  std::invoke_result_t<Body> without_waiting(Body body) {
    TRY(db_.set_synced(false));
    unsynced_ = true;
    intake_.hold_files(true);
    auto result = body();
    intake_.hold_files(false);
    TRY(db_.set_synced(true));
    return result;
  }
  Status try_bad_again_once();
  Result<bool> read_inbox();
  Result<bool> reindex();
  Result<bool> expire();
  store::Retention retention() const;
  int max_retries() const;
  void apply_settings(const ops::Settings& settings);
  void choose_provider();
  agent::Worker::Options work_options(const store::SessionBudget& budget);
  void log_recovered(const store::Recovered& recovered);
  Status in_transaction(const std::function<Status()>& body);
  Status note_failures();
  Status count_note(const std::string& name, const std::string& note, std::function<void(std::size_t)> clear);
  Status note_recovered();
  void note_capture();
  Status watch_queue();
  void catch_up(const std::string& project, std::int64_t deadline);
  // Counts that the user was warned about, by their keys in meta.
  using Warned = std::vector<std::pair<std::string, std::int64_t>>;
  Result<std::vector<std::string>> warnings(Warned& warned);
  // What a session's start shows beside its context.
  struct Start {
    std::vector<std::string> lines;
    Warned warned;
    std::string overhead_key;  // in meta
    std::string pending;       // "B12": the newest backup that is pending; empty: none
    bool stale = false;        // work is missing in what is shown
  };
  context::AnswerOptions answer_options() const;
  // Never fails: a session starts without what could not be found out. Adds what belongs to the context.
  Start begin_start(const store::Session& session, event::StartReason reason,
                    context::AnswerOptions& options);
  Status add_advice(const store::Session& session, event::StartReason reason,
                    const context::AnswerOptions& options, Start& start);
  Status add_staleness(const store::Session& session, Start& start);
  Status add_document(const store::Session& session, event::StartReason reason,
                      context::AnswerOptions& options, Start& start);
  Status add_instructions(const store::Session& session, context::AnswerOptions& options, Start& start);
  // Writes the variables CAIRN_* for the host's later commands. No failure reaches the answer.
  void write_variables(const EventId& event, const store::Session& session, const Start& start);
  // The answer to a prompt: a warning, once, when the session's context is nearly full.
  Result<context::Answer> warn_of_full_context(const EventId& event);
  // Writes the next document that is due. False: none is.
  Result<bool> write_document();
  ops::World world(const ops::Settings& settings);
  Status add_identity_news(const std::string& name, std::vector<std::string>& lines, Warned& warned);

  hook::Home home_;
  Seams seams_;
  store::Db db_;
  std::string key_;
  ops::LiveSettings live_settings_;
  ops::Settings settings_;
  intake::Intake intake_;
  intake::CatchUp catch_up_;
  intake::RepositoryReader repository_reader_;
  store::ProjectMover mover_;
  intake::FileBinding binding_;
  archive::Archiver archiver_;
  archive::PassageIndexer passages_;
  recall::EventIndexer event_indexer_;
  std::int64_t copied_ = 0;  // backups, when the indexer last looked for new ones
  importer::TranscriptImport import_;
  importer::MemoryImport memories_;
  forget::Job forget_;
  std::int64_t flags_changed_ = 0;  // time of hook.flags when last recorded, epoch ms; 0: not yet
  std::int64_t recovered_noted_ = 0;
  std::vector<std::function<void()>> after_commit_;  // run when the current transaction is committed
  agent::ProviderSettings chosen_;                   // what provider_ was made from
  std::unique_ptr<agent::Provider> provider_;        // null: none, or the one of the seams
  agent::Worker worker_;
  std::map<std::int64_t, Warned> unconfirmed_;  // what unconfirmed answers warn about, by receipt
  mutable std::mutex intake_error_mutex_;
  std::string intake_error_;         // of the last step of intake
  bool recorded_error_ = false;      // an intake error is recorded in meta
  bool unsynced_ = false;            // there may be commits that are not on the disk yet
  int groups_ = 0;                   // of events that were stored since the last sync()
  bool expiring_ = false;            // there may be evidence to remove
  std::int64_t limit_moved_ns_ = 0;  // boot time when the expiry limit was last moved, or first looked at
  bool was_deep_ = false;            // the queue was above its limit at the last check
};

}  // namespace cairn::daemon
