#include "cli/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/text.h"
#include "hook/control.h"
#include "hook/start.h"
#include "os/disk.h"
#include "os/lock.h"
#include "os/process.h"

namespace cairn::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kConnect = 2s;
constexpr milliseconds kFirstReply = 5s;
constexpr milliseconds kReach = 10s;
constexpr milliseconds kStartAgain = 3s;  // a start that led to nothing is tried again after this
constexpr milliseconds kStop = 60s;       // a daemon ends its transaction and empties its log first
constexpr milliseconds kPause = 20ms;
constexpr milliseconds kWaitStep = 200ms;
constexpr std::size_t kMaxReply = 512u << 20;
// Replies are our own daemon's: as large as what is stored.
constexpr Json::Limits kReplyLimits{.depth = 256, .nodes = 50'000'000, .string_bytes = kMaxReply};

std::int64_t after(os::Clock& clock, milliseconds time) {
  return clock.boot_ns() + nanoseconds(time).count();
}

Code code_of(std::string_view name) {
  for (const Code code : {Code::busy, Code::not_found, Code::corrupt, Code::full, Code::denied, Code::timeout,
                          Code::canceled, Code::invalid, Code::unsupported})
    if (code_name(code) == name) return code;
  return Code::internal;
}

// "pid 12 version 0.1.0", as the holder of the lock wrote it.
std::string holder(const hook::Home& home) {
  os::RealDisk disk;
  const std::string note = os::read_file(disk, home.lock(), 4096).value_or("");
  const std::string line = one_line(visible(valid_utf8(note)), 80);
  return line.empty() ? "its process" : line;
}

std::string where_to_look(const hook::Home& home) {
  return fmt::format("`cairn logs` says why ({})", home.log_file());
}

// What the daemon wrote last, when that was an error: ": reason". Empty otherwise.
std::string last_error(const hook::Home& home) {
  os::RealDisk disk;
  auto file = disk.open(home.log_file(), os::Open::read);
  if (!file) return {};
  constexpr std::uint64_t kTail = 2000;
  const std::uint64_t size = (*file)->size().value_or(0);
  std::string text(std::min(size, kTail), '\0');
  text.resize((*file)->read_at(size - text.size(), text.data(), text.size()).value_or(0));
  const std::string_view all = trim(text);
  const std::string_view line = all.substr(all.rfind('\n') + 1);
  constexpr std::string_view kMark = " error ";
  const std::size_t at = line.find(kMark);
  return at == std::string_view::npos ? "" : fmt::format(": {}", line.substr(at + kMark.size()));
}

Status start(const hook::Home& home, os::Clock& clock) {
  const std::string me = os::executable_path();
  switch (hook::start_daemon(home, clock, me, true)) {
    case hook::Start::running:
    case hook::Start::started:
    case hook::Start::waiting: return {};
    case hook::Start::missing:
      return Error{Code::internal, fmt::format("daemon: cannot start: {} is gone: install cairn again", me)};
    case hook::Start::failed:
      return Error{Code::denied,
                   fmt::format("daemon: cannot start: check that {} can be written", home.data)};
  }
  return {};
}

Error no_answer(const hook::Home& home) {
  if (os::FileLock::is_held(home.lock()))
    return {Code::timeout, fmt::format("daemon: does not answer ({}): end it with `kill PID`; {}",
                                       holder(home), where_to_look(home))};
  return {Code::timeout, fmt::format("daemon: started, but did not answer within {} s{}: {}", kReach / 1s,
                                     last_error(home), where_to_look(home))};
}

}  // namespace

Result<Client> Client::connect(const hook::Home& home, os::Clock& clock) {
  Client client(TRY(os::connect_unix(home.socket(), static_cast<int>(kConnect.count()))), clock);
  const Json pong = TRY(client.call("ping", Json::object(), kFirstReply));
  client.daemon_ = {pong["pid"].as_int(), pong["uptime_s"].as_int(),
                    std::string(pong["version"].as_string())};
  return client;
}

Result<Client> Client::reach(const hook::Home& home, os::Clock& clock) {
  std::int64_t end = after(clock, kReach), start_next = 0;
  while (clock.boot_ns() < end) {
    Result<Client> client = connect(home, clock);
    if (client && client->daemon().version == CAIRN_VERSION) return client;
    if (client) {
      TRY(stop_daemon(home, clock));
      end = after(clock, kReach);
      continue;
    }
    if (client.error().code == Code::denied) return std::move(client).error().in("daemon");
    const bool started = start_next > 0 && !os::FileLock::is_held(home.lock());
    if (const std::string why = started ? hook::why_not_started(home) : ""; !why.empty())
      return Error{Code::internal, fmt::format("daemon: cannot start: {}", why)};
    // One that is on its way out still holds the lock: its successor is started when it is gone.
    if (!os::FileLock::is_held(home.lock()) && clock.boot_ns() >= start_next) {
      TRY(start(home, clock));
      start_next = after(clock, kStartAgain);
    }
    std::this_thread::sleep_for(kPause);
  }
  return no_answer(home);
}

Result<Json> Client::call(std::string_view op, const Json& args, milliseconds timeout,
                          const std::function<void()>& on_wait) {
  const Json request = Json::object({{"v", hook::kProtocol}, {"op", op}, {"args", args}});
  const std::int64_t end = after(*clock_, timeout);
  TRY(os::send_all(fd_.get(), request.dump() + "\n", end).in("daemon"));
  std::string line;
  for (;;) {
    const std::int64_t next = on_wait ? std::min(end, after(*clock_, kWaitStep)) : end;
    auto read = os::read_line(fd_.get(), rest_, kMaxReply, next);
    if (read) {
      line = *std::move(read);
      break;
    }
    if (read.error().code == Code::canceled)
      return Error{
          Code::canceled,
          fmt::format("daemon: ended while it worked on \"{}\": try again; `cairn logs` says why", op)};
    if (read.error().code != Code::timeout) return std::move(read).error().in("daemon");
    if (clock_->boot_ns() >= end)
      return Error{Code::timeout,
                   fmt::format("daemon: no answer to \"{}\" within {} s: `cairn logs` says what it does", op,
                               timeout / 1s)};
    on_wait();
  }
  Json reply = TRY(Json::parse(line, kReplyLimits).in("daemon: reply"));
  if (!reply["ok"].as_bool())
    return Error{code_of(reply["error"]["code"].as_string()),
                 std::string(reply["error"]["message"].as_string("it gave no reason"))};
  for (auto& [key, value] : reply.mutable_members())
    if (key == "result") return std::move(value);
  return Json();
}

Result<std::optional<Client::Daemon>> stop_daemon(const hook::Home& home, os::Clock& clock) {
  if (!os::FileLock::is_held(home.lock())) return std::optional<Client::Daemon>();
  const std::int64_t end = after(clock, kStop);
  std::optional<Client::Daemon> stopped;
  std::int64_t give_up = after(clock, kReach);
  while (os::FileLock::is_held(home.lock())) {
    // It may be starting, or already on its way out: what counts is its lock.
    if (!stopped) {
      auto client = Client::connect(home, clock);
      if (client && client->call("stop", Json::object(), kFirstReply)) stopped = client->daemon();
      if (!stopped && clock.boot_ns() >= give_up) return no_answer(home);
    }
    if (clock.boot_ns() >= end)
      return Error{Code::timeout, fmt::format("daemon: asked to stop, but still there after {} s ({}): {}",
                                              kStop / 1s, holder(home), where_to_look(home))};
    std::this_thread::sleep_for(kPause);
  }
  return stopped ? stopped : std::optional(Client::Daemon{});
}

}  // namespace cairn::cli
