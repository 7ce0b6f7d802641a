// The protocol: JSON-RPC 2.0 messages, MCP's start, tool calls, cancellation, progress.
//
// receive() answers what needs no memory at once and queues tool calls; work() runs them, one after the
// other. Nothing that a client sends ends the process or goes unanswered, except notifications.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/json.h"
#include "mcp/tools.h"

namespace cairn::mcp {

// Thread-safe.
class Protocol {
 public:
  // The newest version that we know. A client that asks for an older one is answered with that one.
  static constexpr std::string_view kVersion = "2025-11-25";
  // Calls that wait; beyond it a call is refused.
  static constexpr std::size_t kMostCalls = 64;
  // Messages in one array.
  static constexpr std::size_t kMostInBatch = 64;

  // `send` writes one message; it may be called on the threads of receive() and of work().
  using Send = std::function<void(const Json& message)>;
  Protocol(const Tools& tools, Send send) : tools_(tools), send_(std::move(send)) {}

  // One line of the client.
  void receive(std::string_view line);
  // The client sent a line that is too long.
  void receive_too_long();

  // Runs queued calls until close(). Call it on one thread of its own.
  void work();
  // Runs the calls that wait now, on this thread: for tests.
  void work_now();
  // No more calls: work() returns when the queue is empty. `cancel`: also gives up those that wait and the
  // one that runs.
  void close(bool cancel);

 private:
  struct Call {
    Json id;
    std::string tool;
    Json arguments;
    Json progress_token;  // null: the client wants no progress
    std::atomic<bool> canceled = false;
  };
  void message(const Json& message);
  void request(const Json& id, std::string_view method, const Json& params);
  void notification(std::string_view method, const Json& params);
  void queue_call(const Json& id, const Json& params);
  void run(Call& call);
  void reply(const Json& id, Json result);
  void refuse(const Json& id, int code, std::string_view why);
  Json initialized(const Json& params) const;

  const Tools& tools_;
  const Send send_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Call>> calls_;
  std::shared_ptr<Call> running_;
  bool closed_ = false;
};

}  // namespace cairn::mcp
