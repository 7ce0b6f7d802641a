// Any bytes on the control socket from a process of this user: the whole daemon answers with lines of JSON or
// closes the connection, and keeps serving.
//
// The input is what the peer sends. Loop, server, writer and reader are the daemon's own, with their threads,
// in a home that is made anew with every run.
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <string>
#include <string_view>
#include <thread>

#include "daemon/control.h"
#include "daemon/dispatcher.h"
#include "daemon/engine.h"
#include "daemon/jobs.h"
#include "daemon/loop.h"
#include "daemon/server.h"
#include "fuzz/require.h"
#include "os/socket.h"

namespace {

using namespace cairn;
using fuzz::require;

template <class T>
T must(Result<T> result) {
  require(result.ok());
  return *std::move(result);
}

std::string new_home() {
  std::string path = access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz.XXXXXX" : "/tmp/fuzz.XXXXXX";
  require(mkdtemp(path.data()) != nullptr);
  return path;
}

struct Daemon {
  const hook::Home home = hook::Home::at(new_home());
  os::RealDisk disk;
  os::RealClock clock;
  os::RealProcesses processes;
  NullLog log;
  std::unique_ptr<daemon::Engine> engine =
      must(daemon::Engine::open(home, {disk, clock, processes, log, "", false}));
  std::unique_ptr<daemon::Loop> loop = must(daemon::Loop::create());
  daemon::JobThread writer{"writer", log, [this] { return engine->step(); }};
  daemon::JobThread reader{"reader", log};
  daemon::JobThread slow_reader{"slow reader", log};
  daemon::Dispatcher dispatcher{{home, disk, clock, *loop, *engine, writer, reader, slow_reader, [] {},
                                 [](const std::string& damage) { require(damage.empty()); }}};
  daemon::Server server{{clock, log, *loop, *engine, writer, dispatcher, [] {}}};
  std::unique_ptr<daemon::ControlServer> control = must(daemon::ControlServer::listen(
      *loop, home.socket(), log,
      [this](const auto& peer, std::string_view line) { server.handle(peer, line); }));
  std::thread thread{[this] { loop->run(); }};

  // Until both have done what they were given.
  void wait_until_idle() {
    for (daemon::JobThread* jobs : {&writer, &reader, &slow_reader}) {
      std::promise<void> done;
      jobs->post([&done] { done.set_value(); });
      done.get_future().wait();
    }
  }
  ~Daemon() {
    loop->post([this] { loop->stop(); });
    thread.join();
    writer.stop();
    dispatcher.stop();
    reader.stop();
    slow_reader.stop();
    require(std::system(("rm -rf '" + home.data + "'").c_str()) == 0);
  }
};

// Every line that comes back is JSON.
void check_replies(int fd, std::int64_t deadline) {
  std::string rest;
  while (const auto line = os::read_line(fd, rest, 64u << 20, deadline)) {
    require(is_utf8(*line));
    require(Json::parse(*line).ok());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Daemon& serving = [&]() -> Daemon& {
    signal(SIGPIPE, SIG_IGN);
    static Daemon made;
    return made;
  }();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::int64_t deadline = serving.clock.boot_ns() + 5'000'000'000;
  const os::Fd peer = must(os::connect_unix(serving.home.socket(), 1000));
  if (!os::send_all(peer.get(), std::string(bytes) + "\n", deadline)) return 0;
  serving.wait_until_idle();
  shutdown(peer.get(), SHUT_WR);
  check_replies(peer.get(), deadline);
  const os::Fd next = must(os::connect_unix(serving.home.socket(), 1000));
  require(os::send_all(next.get(), "{\"v\":1,\"op\":\"ping\"}\n", deadline).ok());
  std::string rest;
  require(os::read_line(next.get(), rest, 4096, deadline).ok());
  return 0;
}
