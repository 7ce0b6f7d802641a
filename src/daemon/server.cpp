#include "daemon/server.h"

#include <algorithm>

#include "hook/control.h"

namespace cairn::daemon {

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

void Server::handle(const std::shared_ptr<Connection>& connection, std::string_view line) {
  parts_.on_activity();
  const auto request = Json::parse(line);
  if (!request)
    return connection->refuse(reply_line(Error{Code::invalid, "control: " + request.error().message}));
  const Json& r = *request;
  if (r["v"].as_int() != hook::kProtocol)
    return connection->refuse(
        reply_line(Error{Code::unsupported, "control: this daemon speaks version 1 of the protocol"}));
  const std::string_view op = r["op"].as_string();
  if (op == "answer") return answer(connection, r["args"]);
  if (op == "given") return given(*connection);
  connection->expect_reply();
  parts_.dispatcher.request(op, r["args"], [this, peer = Peer(connection)](const Result<Json>& result) {
    parts_.loop.post([peer, line = reply_line(result)] {
      if (const auto asking = peer.lock()) asking->reply(line);
    });
  });
}

// Two deadlines: until `enough` the engine may read waiting events; after `too_late` the hook has gone on
// with its fixed answer. There is no expect_reply(): an answer that is dropped must not disable the
// connection's idle timeout.
void Server::answer(const std::shared_ptr<Connection>& connection, const Json& args) {
  const EventId event{std::string(args["event"].as_string())};
  const std::int64_t ms = std::clamp<std::int64_t>(args["ms"].as_int(200), 1, 60'000);
  const std::int64_t now = parts_.clock.boot_ns();
  const std::int64_t reserve = std::min<std::int64_t>(300, ms / 4);  // time for composing and sending
  const std::int64_t enough = now + (ms - reserve) * 1'000'000, too_late = now + ms * 1'000'000;
  parts_.writer.post([this, peer = Peer(connection), event, enough, too_late] {
    if (parts_.clock.boot_ns() > too_late)
      return;  // the hook is gone; its session gets this with its next prompt
    auto result = parts_.engine.answer(event, enough);
    if (!result) parts_.log.error("answer event=" + event.value + ": " + result.error().message);
    context::Answer answer =
        result ? *std::move(result) : context::Answer{std::string(hook::kFixedAnswer), std::nullopt, 0};
    parts_.loop.post([peer, answer = std::move(answer)] {
      const auto asking = peer.lock();
      if (!asking) return;
      asking->receipt = answer.receipt;
      asking->reply(answer.line);
    });
    parts_.writer.wake();  // events may still wait, and files whose commits are not synced
  });
}

// The hook printed the answer. A connection that broke off before that leaves the receipt unconfirmed: the
// context counts as not given.
void Server::given(Connection& connection) {
  if (!connection.receipt) return;
  parts_.writer.post([this, receipt = *connection.receipt] {
    if (auto done = parts_.engine.confirm(receipt); !done)
      parts_.log.error("receipt: " + done.error().message);
  });
  connection.receipt.reset();
}

}  // namespace cairn::daemon
