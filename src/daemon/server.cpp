#include "daemon/server.h"

#include <unistd.h>

#include <algorithm>

#include "hook/control.h"
#include "store/queue_admin.h"

namespace cairn::daemon {

static constexpr std::chrono::milliseconds kLookAgain(20);

Server::Server(const Parts& parts)
    : parts_(parts), started_boot_ns_(parts.clock.boot_ns()), key_(parts.engine.key()) {}

static std::string reply_line(const Result<Json>& result) {
  Json reply = Json::object({{"v", hook::kProtocol}, {"ok", result.ok()}, {"version", CAIRN_VERSION}});
  if (result) {
    reply.set("result", *result);
  } else {
    reply.set("error",
              Json::object({{"code", code_name(result.error().code)}, {"message", result.error().message}}));
  }
  return reply.dump();
}

Json Server::daemon_json() {
  return Json::object({{"pid", static_cast<std::int64_t>(getpid())},
                       {"uptime_s", (parts_.clock.boot_ns() - started_boot_ns_) / 1'000'000'000},
                       {"version", CAIRN_VERSION}});
}

void Server::send(Peer peer, Result<Json> result) {
  parts_.loop.post([peer = std::move(peer), line = reply_line(result)] {
    if (const auto connection = peer.lock()) connection->reply(line);
  });
}

void Server::handle(const std::shared_ptr<Connection>& connection, std::string_view line) {
  parts_.on_activity();
  const auto request = Json::parse(line);
  if (!request)
    return connection->refuse(reply_line(Error{Code::invalid, "control: " + request.error().message}));
  const Json& r = *request;
  if (r["v"].as_int() != hook::kProtocol)
    return connection->refuse(
        reply_line(Error{Code::unsupported, "control: this daemon speaks version 1 of the protocol"}));
  const std::string op(r["op"].as_string());
  if (op == "answer") return answer(connection, r["args"]);
  if (op == "given") return given(*connection);
  if (op == "ping") return connection->reply(reply_line(daemon_json()));
  if (op == "process") {
    connection->expect_reply();
    return process(connection, r["args"]);
  }
  if (op == "reload") {
    parts_.writer.post([this] { parts_.engine.reload(); });
    return connection->reply(reply_line(Json::object()));
  }
  if (op == "stop") {
    connection->reply(reply_line(Json::object({{"stopping", true}})));
    return parts_.on_stop();
  }
  const ops::Operation* operation = ops::find_operation(op);
  if (!operation)
    return connection->reply(
        reply_line(Error{Code::unsupported, "control: there is no operation \"" + op + "\""}));
  connection->expect_reply();
  run(connection, *operation, r["args"]);
}

void Server::answer(const std::shared_ptr<Connection>& connection, const Json& args) {
  const EventId event{std::string(args["event"].as_string())};
  const std::int64_t ms = std::clamp<std::int64_t>(args["ms"].as_int(200), 1, 60'000);
  const std::int64_t now = parts_.clock.boot_ns();
  const std::int64_t reserve = std::min<std::int64_t>(300, ms / 4);  // composing and sending
  const std::int64_t enough = now + (ms - reserve) * 1'000'000, too_late = now + ms * 1'000'000;
  parts_.writer.post([this, peer = Peer(connection), event, enough, too_late] {
    if (parts_.clock.boot_ns() > too_late)
      return;  // the hook is gone; its session is made good with the next prompt
    auto result = parts_.engine.answer(event, enough);
    if (!result) parts_.log.error("answer event=" + event.value + ": " + result.error().message);
    context::Answer answer =
        result ? *std::move(result) : context::Answer{std::string(hook::kFixedAnswer), std::nullopt};
    parts_.loop.post([peer, answer = std::move(answer)] {
      const auto asking = peer.lock();
      if (!asking) return;
      asking->receipt = answer.receipt;
      asking->reply(answer.line);
    });
    parts_.writer.nudge();
  });
}

void Server::given(Connection& connection) {
  if (!connection.receipt) return;
  parts_.writer.post([this, receipt = *connection.receipt] {
    if (auto done = parts_.engine.confirm(receipt); !done)
      parts_.log.error("receipt: " + done.error().message);
  });
  connection.receipt.reset();
}

Result<Json> Server::run_reader(const ops::Operation& operation, const Json& args) {
  if (!reader_db_) {
    store::Db::Options options;
    options.path = parts_.home.database();
    options.mode = store::Db::Mode::read_only;
    auto opened = store::Db::open(options);
    if (!opened && opened.error().code == Code::corrupt) parts_.on_damage(opened.error().message);
    reader_db_ = TRY(std::move(opened));
  }
  const ops::Settings settings = ops::Settings::load(parts_.disk, parts_.home);
  ops::World world{*reader_db_, parts_.disk, parts_.clock, parts_.home, settings, key_, nullptr};
  auto done = operation.run(world, args);
  parts_.on_damage(reader_db_->damage());
  Json result = TRY(std::move(done));
  if (operation.name == "status") result.set("daemon", daemon_json());
  return result;
}

void Server::run(Peer peer, const ops::Operation& operation, Json args) {
  JobThread& thread = operation.access == ops::Access::read ? parts_.reader : parts_.writer;
  thread.post([this, peer, &operation, args = std::move(args)] {
    send(peer, operation.access == ops::Access::read ? run_reader(operation, args)
                                                     : parts_.engine.run(operation, args));
  });
}

// `cairn process`: the standing work, step by step, so that hooks are answered in between.
struct Server::Drain {
  Peer peer;
  bool end_turns = false;
  std::int64_t events_before = 0;
  std::int64_t processed_before = 0;
};

static Result<std::int64_t> settled_events(store::Db& db) {
  return TRY(db.integer("SELECT count(*) FROM events")).value_or(0);
}

void Server::process(Peer peer, const Json& args) {
  auto work = std::make_shared<Drain>();
  work->peer = std::move(peer);
  work->end_turns = args["wait"].as_bool();
  parts_.writer.post([this, work, again = args["again"].as_bool()] {
    const Result<std::size_t> tried = again ? parts_.engine.try_bad_again() : 0;
    if (!tried) return send(work->peer, tried.error());
    work->processed_before = parts_.engine.processed();
    work->events_before = settled_events(parts_.engine.db()).value_or(0);
    drain(work);
  });
}

// A provider is thinking.
void Server::look_again(std::shared_ptr<Drain> work) {
  parts_.loop.post([this, work] {
    parts_.loop.after(kLookAgain, [this, work] { parts_.writer.post([this, work] { drain(work); }); });
  });
}

void Server::drain(std::shared_ptr<Drain> work) {
  const auto more = parts_.engine.step();
  if (!more) return send(work->peer, more.error());
  if (*more) return parts_.writer.post([this, work] { drain(work); });
  if (parts_.engine.awaits()) return look_again(work);
  if (work->end_turns) {
    work->end_turns = false;
    if (auto ended = parts_.engine.end_open_turns(); !ended) return send(work->peer, ended.error());
    return parts_.writer.post([this, work] { drain(work); });
  }
  const auto report = [&]() -> Result<Json> {
    const auto queue = TRY(store::queue_counts(parts_.engine.db()));
    const std::int64_t events = TRY(settled_events(parts_.engine.db()));
    return Json::object({{"taken_in", events - work->events_before},
                         {"processed", parts_.engine.processed() - work->processed_before},
                         {"inbox", TRY(parts_.engine.waiting())},
                         {"queue", Json::object({{"pending", queue.pending},
                                                 {"processing", queue.processing},
                                                 {"processed", queue.processed},
                                                 {"failed", queue.failed}})}});
  };
  send(work->peer, report());
}

}  // namespace cairn::daemon
