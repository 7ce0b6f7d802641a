#include "daemon/dispatcher.h"

#include <unistd.h>

#include <utility>

#include "ops/agent.h"
#include "ops/provider.h"
#include "store/events.h"
#include "store/open_store.h"
#include "store/queue_admin.h"

namespace cairn::daemon {

static constexpr std::chrono::milliseconds kLookAgain(20);  // while a provider's reply is pending
// Enough for the pages of a store of one or two gigabytes. No session waits for it.
static constexpr std::chrono::seconds kCheckTime(5);

Dispatcher::Dispatcher(const Parts& parts)
    : parts_(parts),
      started_boot_ns_(parts.clock.boot_ns()),
      reader_{parts.reader, std::nullopt},
      slow_reader_{parts.slow_reader, std::nullopt},
      key_(parts.engine.key()) {}

Json Dispatcher::about_daemon() const {
  return Json::object({{"pid", static_cast<std::int64_t>(getpid())},
                       {"uptime_s", (parts_.clock.boot_ns() - started_boot_ns_) / 1'000'000'000},
                       {"version", CAIRN_VERSION}});
}

void Dispatcher::request(std::string_view name, const Json& args, Reply reply) {
  const ops::Operation* operation = ops::find_operation(name);
  if (!operation)
    return reply(Error{Code::unsupported, "there is no operation \"" + std::string(name) + "\""});
  switch (operation->access) {
    case ops::Access::read: return read(reader_, *operation, args, std::move(reply));
    case ops::Access::read_slowly: return read(slow_reader_, *operation, args, std::move(reply));
    case ops::Access::write:
      return parts_.writer.post([this, operation, args, reply = std::move(reply)] {
        reply(parts_.engine.run(*operation, args));
        parts_.writer.wake();  // it may have left work
      });
    case ops::Access::daemon: return run_daemon_task(*operation, args, reply);
  }
}

// Operations about the daemon itself. Their arguments are checked here: Operation::run(), which does that for
// all others, is not called.
void Dispatcher::run_daemon_task(const ops::Operation& operation, const Json& args, const Reply& reply) {
  const auto checked = operation.check(args);
  if (!checked) return reply(checked.error());
  switch (operation.task) {
    case ops::Task::none: break;
    case ops::Task::ping: return reply(about_daemon());
    case ops::Task::process: return process(*checked, reply);
    case ops::Task::test_agent: return test_agent(*checked, reply);
    case ops::Task::reload:
      parts_.writer.post([this] { parts_.engine.reload(); });
      return reply(Json::object());
    case ops::Task::stop: reply(Json::object({{"stopping", true}})); return parts_.on_stop();
  }
  reply(Error{Code::internal, operation.title() + ": the daemon has no task for it"});
}

void Dispatcher::read(Reader& reader, const ops::Operation& operation, const Json& args, Reply reply) {
  reader.thread.post([this, &reader, &operation, args, reply = std::move(reply)] {
    reply(run_reader(reader, operation, args));
  });
}

Result<store::Db> Dispatcher::open_to_read() {
  store::Db::Options options;
  options.path = parts_.home.database();
  options.mode = store::Db::Mode::read_only;
  auto opened = store::Db::open(options);
  if (!opened && opened.error().code == Code::corrupt) parts_.on_damage(opened.error().message);
  return opened;
}

void Dispatcher::check_store() {
  slow_reader_.thread.post([this] {
    auto db = open_to_read();  // not kept open: perhaps no slow operation ever needs it
    if (!db) return;
    const Status checked = store::check_pages(parts_.clock, *db, kCheckTime, &stopping_);
    if (checked || checked.error().code != Code::corrupt) return;
    // FTS5 may report damage where there is none while another connection writes. Real damage of the search
    // index is noticed when it is read.
    if (checked.error().message.find("fts5") == std::string::npos) parts_.on_damage(checked.error().message);
  });
}

Result<Json> Dispatcher::run_reader(Reader& reader, const ops::Operation& operation, const Json& args) {
  // Opened at the first request, on the thread that uses it.
  if (!reader.db) reader.db = TRY(open_to_read());
  const auto settings = parts_.engine.live_settings().now();
  ops::World world{*reader.db, parts_.disk, parts_.clock, parts_.home,
                   *settings,  key_,        nullptr,      about_daemon()};
  world.stopping = &stopping_;
  world.write_later = [this, &operation](std::function<Status(store::Db&)> body) {
    parts_.writer.post(
        [this, &operation, body = std::move(body)] { parts_.engine.write_later(operation.title(), body); });
  };
  world.intake_error = parts_.engine.intake_error();
  auto done = operation.run(world, args);
  parts_.on_damage(reader.db->damage());
  return done;
}

// `cairn process`: works through inbox and queue. drain() does one step and posts itself to the writer again,
// so that hooks are answered in between. When nothing is left to do: with `--wait` it ends the open turns and
// goes on once more; then it reports.
struct Dispatcher::Drain {
  Reply reply;
  bool end_turns = false;
  std::int64_t events_before = 0;
  std::int64_t processed_before = 0;
};

void Dispatcher::process(const ops::Args& args, Reply reply) {
  auto work = std::make_shared<Drain>();
  work->reply = std::move(reply);
  work->end_turns = args.flag("wait");
  parts_.writer.post([this, work, again = args.flag("again")] {
    const Result<std::size_t> tried = again ? parts_.engine.try_bad_again() : 0;
    if (!tried) return work->reply(tried.error());
    work->processed_before = parts_.engine.processed();
    work->events_before = store::count_events(parts_.engine.db()).value_or(0);
    drain(work);
  });
}

// Waits for a provider's reply. Timers belong to the loop's thread, the engine to the writer's: so a timer of
// the loop posts drain() to the writer again.
void Dispatcher::look_again(const std::shared_ptr<Drain>& work) {
  parts_.loop.post([this, work] {
    parts_.loop.after(kLookAgain, [this, work] { parts_.writer.post([this, work] { drain(work); }); });
  });
}

void Dispatcher::drain(const std::shared_ptr<Drain>& work) {
  const auto more = parts_.engine.step();
  if (!more) return work->reply(more.error());
  if (*more) return parts_.writer.post([this, work] { drain(work); });
  if (parts_.engine.awaits()) return look_again(work);
  if (work->end_turns) {
    work->end_turns = false;
    if (auto ended = parts_.engine.end_open_turns(); !ended) return work->reply(ended.error());
    return parts_.writer.post([this, work] { drain(work); });
  }
  const auto report = [&]() -> Result<Json> {
    const auto queue = TRY(store::queue_counts(parts_.engine.db()));
    const std::int64_t events = TRY(store::count_events(parts_.engine.db()));
    return Json::object({{"taken_in", events - work->events_before},
                         {"processed", parts_.engine.processed() - work->processed_before},
                         {"inbox", TRY(parts_.engine.waiting())},
                         {"queue", Json::object({{"pending", queue.pending},
                                                 {"processing", queue.processing},
                                                 {"processed", queue.processed},
                                                 {"failed", queue.failed}})}});
  };
  work->reply(report());
}

void Dispatcher::test_agent(const ops::Args& args, Reply reply) {
  parts_.writer.post([this, args, reply = std::move(reply)] {
    auto provider = parts_.engine.make_provider(ops::provider_settings(parts_.engine.settings(), args));
    const int id = ++next_test_;
    AgentTest::Limits limits{ops::daily_budget(parts_.engine.settings()),
                             parts_.engine.settings().list("agent.prices")};
    agent_tests_.emplace(id, std::pair(std::make_unique<AgentTest>(std::move(provider), parts_.engine.db(),
                                                                   parts_.clock, std::move(limits)),
                                       reply));
    look_at_test(id);
  });
}

// The loop's timer keeps only the number: a test that it owned would be destroyed with the loop, after the
// threads that its call needs.
void Dispatcher::look_at_test(int id) {
  const auto found = agent_tests_.find(id);
  const auto result = found->second.first->step();
  if (!result || *result) {
    found->second.second(result ? Result<Json>(**result) : Result<Json>(result.error()));
    agent_tests_.erase(found);
    return;
  }
  parts_.loop.post([this, id] {
    parts_.loop.after(kLookAgain, [this, id] { parts_.writer.post([this, id] { look_at_test(id); }); });
  });
}

}  // namespace cairn::daemon
