#include "mcp/server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <future>
#include <thread>

#include "mcp/protocol.h"
#include "mcp/transport.h"
#include "os/socket.h"

// Two ways to end. When the input has ended, the client may still read: calls that wait are answered, for at
// most kLastCalls. In all other cases the client no longer reads: calls are given up at once.

namespace cairn::mcp {

namespace {

using namespace std::chrono_literals;

constexpr auto kLastCalls = 10s;       // after the end of the input
constexpr auto kGivenUp = 500ms;       // until a call that is given up must have ended
constexpr int kLookAtParentMs = 1000;  // how often getppid() is called, for kernels without pidfd_open

int wake = -1;  // the handler writes to it

void on_signal(int) {  // restores errno: it may interrupt a call of either thread
  const int before = errno;
  const char byte = 's';
  [[maybe_unused]] const ssize_t put = write(wake, &byte, 1);
  errno = before;
}

// A pipe that a signal writes to. Handlers, unlike a mask, are not inherited by a daemon that we start.
struct Signals {
  os::Fd read_end, write_end;
  Signals() {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    read_end = os::Fd(ends[0]);
    write_end = os::Fd(ends[1]);
    wake = ends[1];
    struct sigaction action {};
    action.sa_handler = on_signal;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }
  ~Signals() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
    wake = -1;
  }
};

// Reads until the input ends: true. False: a signal came, the parent is gone, or the output was closed.
bool read_all(int in, int signals, LineReader& reader, const LineWriter& writer) {
  const pid_t parent = getppid();
  // Readable when the parent ends. PR_SET_PDEATHSIG would already report the end of the parent's thread.
  const os::Fd watch(parent > 0 ? static_cast<int>(syscall(SYS_pidfd_open, parent, 0)) : -1);
  std::array<char, 64u << 10> buffer;
  for (;;) {
    std::array<pollfd, 3> polled = {pollfd{in, POLLIN, 0}, pollfd{signals, POLLIN, 0},
                                    pollfd{watch ? watch.get() : -1, POLLIN, 0}};
    const int ready = poll(polled.data(), polled.size(), kLookAtParentMs);
    if (ready < 0 && errno != EINTR) return false;
    if (polled[1].revents != 0 || polled[2].revents != 0 || getppid() != parent || writer.closed())
      return false;
    if (ready <= 0 || polled[0].revents == 0) continue;
    const ssize_t got = read(in, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return true;
    reader.add({buffer.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace

void serve(Memory& memory, const ServerOptions& options) {
  const Signals signals;
  LineWriter writer(options.out);
  const Tools tools(memory, options.tools);
  Protocol protocol(tools, [&](const Json& message) { writer.write(message.dump()); });
  std::promise<void> ended;
  std::thread worker([&] {
    protocol.work();
    ended.set_value();
  });
  LineReader reader([&](std::string_view line) { protocol.receive(line); },
                    [&] { protocol.receive_too_long(); });
  const bool finish = read_all(options.in, signals.read_end.get(), reader, writer);
  if (finish) reader.finish();
  protocol.close(!finish);
  const auto done = ended.get_future();
  const auto give_up = std::chrono::steady_clock::now() + kLastCalls;
  // A signal while the last calls run ends them too.
  while (finish && done.wait_for(20ms) != std::future_status::ready) {
    pollfd p{signals.read_end.get(), POLLIN, 0};
    if (poll(&p, 1, 0) > 0 || writer.closed() || std::chrono::steady_clock::now() > give_up) break;
  }
  protocol.close(true);
  // The worker may be blocked in a write to a client that does not read.
  if (done.wait_for(0s) != std::future_status::ready) writer.close();
  // A call that cannot be given up (a daemon that hangs) must not keep the host waiting. Nothing here needs
  // an orderly end: the daemon alone writes.
  if (done.wait_for(kGivenUp) != std::future_status::ready) _exit(0);
  worker.join();
}

}  // namespace cairn::mcp
