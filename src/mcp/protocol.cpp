#include "mcp/protocol.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"

// A tool call is answered once. receive() queues it on the reading thread; work() moves it to running_ on its
// own thread, and run() replies. A cancellation removes it from the queue, or sets running_->canceled, which
// run() sees in its `waiting` callback.

namespace cairn::mcp {

namespace {

// Of JSON-RPC.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
              kInvalidParams = -32602, kBusy = -32000;

// Limits of a client's message: above what a tool call needs, below what could exhaust the memory.
constexpr Json::Limits kLimits{.depth = 64, .nodes = 50'000, .string_bytes = 1u << 20};

constexpr std::chrono::seconds kProgressStep(1);  // between two reports of progress

bool is_id(const Json& id) {
  return id.is_string() || id.is_number();
}

// Versions are dates: "2025-03-26". True for ours and for every earlier date.
bool is_known_version(std::string_view version) {
  if (version.size() != Protocol::kVersion.size()) return false;
  for (std::size_t i = 0; i < version.size(); ++i) {
    const bool dash = Protocol::kVersion[i] == '-';
    if (dash ? version[i] != '-' : version[i] < '0' || version[i] > '9') return false;
  }
  return version <= Protocol::kVersion;
}

}  // namespace

void Protocol::reply(const Json& id, Json result) {
  send_(Json::object({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}));
}

void Protocol::refuse(const Json& id, int code, std::string_view why) {
  send_(Json::object(
      {{"jsonrpc", "2.0"}, {"id", id}, {"error", Json::object({{"code", code}, {"message", why}})}}));
}

void Protocol::receive_too_long() {
  refuse(Json(), kInvalidRequest, "the message is too long: at most 4 MB");
}

void Protocol::receive(std::string_view line) {
  // Without a readable id a refusal has the id null, as JSON-RPC wants it.
  const auto parsed = Json::parse(line, kLimits);
  if (!parsed) return refuse(Json(), kParseError, "not JSON");
  if (!parsed->is_array()) return message(*parsed);
  // Clients of 2025-03-26 may send several in an array. Each gets a reply of its own: ids tell them apart.
  const Json::Array& batch = parsed->items();
  if (batch.empty() || batch.size() > kMostInBatch)
    return refuse(Json(), kInvalidRequest, "a batch has 1 to 64 messages");
  for (const Json& each : batch) message(each);
}

void Protocol::message(const Json& message) {
  if (!message.is_object()) return refuse(Json(), kInvalidRequest, "a message is an object");
  const Json& id = message["id"];
  const Json& method = message["method"];
  if (!method.is_string()) {
    // We send the client no requests, so a reply answers nothing and is ignored.
    if (message.has("result") || message.has("error")) return;
    return refuse(is_id(id) ? id : Json(), kInvalidRequest, "a request has a method");
  }
  if (!message.has("id")) return notification(method.as_string(), message["params"]);
  if (!is_id(id)) return refuse(Json(), kInvalidRequest, "an id is a text or a number");
  request(id, method.as_string(), message["params"]);
}

void Protocol::request(const Json& id, std::string_view method, const Json& params) {
  if (method == "initialize") return reply(id, initialized(params));
  if (method == "ping") return reply(id, Json::object());
  if (method == "tools/list") return reply(id, Json::object({{"tools", tools_.definitions()}}));
  if (method == "tools/call") return queue_call(id, params);
  refuse(id, kMethodNotFound, "there is no method " + one_line(visible(method), 100));
}

Json Protocol::initialized(const Json& params) const {
  const std::string_view asked = params["protocolVersion"].as_string();
  return Json::object(
      {{"protocolVersion", is_known_version(asked) ? asked : kVersion},
       {"capabilities", Json::object({{"tools", Json::object()}})},
       {"serverInfo",
        Json::object({{"name", "cairn"}, {"title", "Cairn memory"}, {"version", CAIRN_VERSION}})},
       {"instructions", Tools::instructions()}});
}

void Protocol::notification(std::string_view method, const Json& params) {
  if (method != "notifications/cancelled") return;  // the others need no action, and no reply
  const Json& id = params["requestId"];
  const std::lock_guard lock(mutex_);
  if (running_ && running_->id == id) running_->canceled = true;
  std::erase_if(calls_, [&](const std::shared_ptr<Call>& call) { return call->id == id; });
}

void Protocol::queue_call(const Json& id, const Json& params) {
  const std::string tool(params["name"].as_string());
  if (!tools_.has(tool))
    return refuse(id, kInvalidParams, "there is no tool " + one_line(visible(tool), 100));
  auto call = std::make_shared<Call>();
  call->id = id;
  call->tool = tool;
  call->arguments = params["arguments"];
  if (const Json& token = params["_meta"]["progressToken"]; is_id(token)) call->progress_token = token;
  {
    const std::lock_guard lock(mutex_);
    // With two calls of one id the client could not tell the replies apart, nor could a cancellation.
    const auto same = [&](const std::shared_ptr<Call>& other) { return other && other->id == id; };
    if (same(running_) || std::any_of(calls_.begin(), calls_.end(), same))
      return refuse(id, kInvalidRequest, "a request with this id is not answered yet");
    if (closed_ || calls_.size() >= kMostCalls)
      return refuse(id, kBusy, "too many calls at once: wait for the others");
    calls_.push_back(std::move(call));
  }
  changed_.notify_one();
}

void Protocol::run(Call& call) {
  const auto started = std::chrono::steady_clock::now();
  std::int64_t reported = 0;  // seconds
  const auto waiting = [&] {
    const std::int64_t seconds = (std::chrono::steady_clock::now() - started) / kProgressStep;
    if (!call.canceled && !call.progress_token.is_null() && seconds > reported) {
      reported = seconds;
      send_(Json::object({{"jsonrpc", "2.0"},
                          {"method", "notifications/progress"},
                          {"params", Json::object({{"progressToken", call.progress_token},
                                                   {"progress", seconds},
                                                   {"message", "waiting for the memory"}})}}));
    }
    return !call.canceled;
  };
  const ToolResult result = tools_.call(call.tool, call.arguments, waiting);
  if (call.canceled) return;  // a client that cancelled expects no reply
  Json out =
      Json::object({{"content", Json::array({Json::object({{"type", "text"}, {"text", result.text}})})}});
  if (result.is_error) out.set("isError", true);
  reply(call.id, std::move(out));
}

void Protocol::work_now() {
  for (;;) {
    std::shared_ptr<Call> call;
    {
      const std::lock_guard lock(mutex_);
      if (calls_.empty()) return;
      call = running_ = std::move(calls_.front());
      calls_.pop_front();
    }
    run(*call);
    const std::lock_guard lock(mutex_);
    running_.reset();
  }
}

void Protocol::work() {
  for (;;) {
    work_now();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !calls_.empty(); });
    if (calls_.empty()) return;  // closed, and every call is answered
  }
}

void Protocol::close(bool cancel) {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (cancel) calls_.clear();
    if (cancel && running_) running_->canceled = true;
  }
  changed_.notify_all();
}

}  // namespace cairn::mcp
