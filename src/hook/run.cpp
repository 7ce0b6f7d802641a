#include "hook/run.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "hook/control.h"
#include "hook/envelope.h"
#include "hook/failures.h"
#include "hook/flags.h"
#include "hook/home.h"
#include "hook/inbox.h"
#include "hook/scan.h"
#include "hook/start.h"
#include "os/clock.h"
#include "os/disk.h"
#include "os/lock.h"
#include "os/process.h"
#include "os/socket.h"

namespace cairn::hook {

// One run, in this order:
// 1. Check that the home's directories are ours, and read hook.flags.
// 2. Copy stdin to the inbox. From here the event is safe, whatever goes wrong below.
// 3. Print the answer: the daemon's if this event asks for one and it comes in time, else the fixed one.
// 4. Start a daemon if none runs. Only a session's start does this before step 3, because it waits for it.
// An error never leaves run(): it becomes a warning in the answer of a session's start, and a line for the
// daemon (failures.h).

namespace {

constexpr std::int64_t kMs = 1'000'000;
// How long we wait for a host that neither sends nor closes stdin; the payload is what came until then.
constexpr std::int64_t kStdinNs = 5'000 * kMs;
// How long we wait for a host that does not read our answer.
constexpr std::int64_t kStdoutNs = 1'000 * kMs;
constexpr std::size_t kMaxAnswer = 256u << 10;

constexpr std::string_view kHelp =
    "cairn-hook " CAIRN_VERSION
    ": reads one event of a coding agent from stdin; the agent runs it, people run cairn.\n"
    "usage: cairn-hook EVENT [--host HOST] < event.json\n";

struct Arguments {
  std::string event;
  std::string host{kDefaultHost};
  bool help = false;
};

// No argument is refused: an error exit could make the host fail its tool call.
Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (text == "--help" || text == "-h" || text == "--version") {
      arguments.help = true;
    } else if (text == "--host" && i + 1 < argc) {
      arguments.host = argv[++i];
    } else if (text.starts_with("--host=")) {
      arguments.host = text.substr(7);
    } else if (arguments.event.empty() && !text.starts_with('-')) {
      arguments.event = text;
    }
  }
  return arguments;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The user switched cairn off, or this hook was fired by cairn's own memory agent.
bool is_disabled() {
  const std::string disable = variable("CAIRN_DISABLE");
  return (!disable.empty() && disable != "0") || !variable("CAIRN_AGENT").empty();
}

// Whether all of it was written before the deadline: the host may have stopped reading. stdout is shared with
// the host, so it stays in blocking mode. When poll() reports room in a pipe, PIPE_BUF bytes fit: no write
// blocks.
bool print(std::string_view text) {
  os::RealClock clock;
  const std::int64_t deadline = clock.boot_ns() + kStdoutNs;
  while (!text.empty()) {
    const std::int64_t left = deadline - clock.boot_ns();
    if (left <= 0) return false;
    pollfd p{STDOUT_FILENO, POLLOUT, 0};
    const int ready = poll(&p, 1, static_cast<int>(left / kMs) + 1);
    if (ready == 0) return false;
    const ssize_t put =
        ready < 0 ? ready : write(STDOUT_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (put >= 0)
      text.remove_prefix(static_cast<std::size_t>(put));
    else if (errno != EINTR && errno != EAGAIN)
      return false;
  }
  return true;
}

// The answer to the host, printed at most once: the daemon's, else the fixed one of the event, which may be
// empty.
class Answer {
 public:
  explicit Answer(const Arguments& arguments) { set_event(arguments); }
  // Called again once the event's name is known.
  void set_event(const Arguments& arguments) { rule_ = rule_of(arguments.host, arguments.event); }
  EventRule::Asks asks() const { return rule_.asks; }
  // What the event asks with these settings.
  EventRule::Asks asks(const Flags& flags) const {
    return rule_.only_if && !(flags.*rule_.only_if) ? EventRule::Asks::nothing : rule_.asks;
  }
  // Prints the answer. True: the host has it.
  bool give(std::string_view line) {
    given_ = true;
    return print(std::string(line) + '\n');
  }
  // The same for the daemon's answer.
  bool give_daemons(std::string_view line) { return give(line == kFixedAnswer ? rule_.answer : line); }
  // Prints the fixed answer, unless an answer was printed already.
  void finish() {
    if (given_) return;
    given_ = true;
    if (!rule_.answer.empty()) give(rule_.answer);
  }
  // The same; but at a session's start the answer includes a line for the user that says what is broken.
  // Other events do not repeat it.
  void finish_broken(std::string_view what) {
    if (!given_ && asks() == EventRule::Asks::context) give(broken_answer(rule_, what));
    finish();
  }

 private:
  EventRule rule_;
  bool given_ = false;
};

// One run of the hook. When it returns without an answer, the fixed answer is printed.
class Hook {
 public:
  Hook(os::Disk& disk, Arguments arguments, Home home, Answer& answer)
      : disk_(disk), arguments_(std::move(arguments)), home_(std::move(home)), answer_(answer) {}

  void run() {
    if (const Status own = home_.check_inbox(); !own.ok()) return report_failure(own.error(), false);
    flags_ =
        Flags::decode(os::read_file(disk_, home_.flags(), Flags::kBytes, os::Open::read_own).value_or({}));
    // Nothing is recorded, but the fixed answer still depends on the event.
    if (!flags_.capture) return learn_event();
    const Result<EventId> delivered = deliver();
    // After the delivery, which passes the payload to scan_ while it copies it.
    learn_event();
    if (!delivered.ok()) return report_failure(delivered.error(), true);
    switch (answer_.asks(flags_)) {
      case EventRule::Asks::context: return answer_session_start(*delivered);
      case EventRule::Asks::due:
      case EventRule::Asks::help:
      case EventRule::Asks::text: return ask_running(*delivered);
      case EventRule::Asks::nothing: answer_.finish(); start();
    }
  }

 private:
  Result<EventId> deliver() {
    Envelope envelope;
    envelope.event = arguments_.event;
    envelope.host = arguments_.host;
    envelope.host_process = os::nearest_host();
    envelope.read_variables();
    const auto source = [this](char* to, std::size_t size) { return read_stdin(to, size); };
    return Inbox(disk_, clock_, home_.inbox()).deliver(std::move(envelope), source, flags_.sync);
  }

  // For a hook that was registered without an EVENT argument: takes the event's name from the payload.
  void learn_event() {
    if (!arguments_.event.empty()) return;
    if (scan_.empty()) read_start();
    arguments_.event = scan_.event();
    answer_.set_event(arguments_);
  }

  // Reads the beginning of an event that is not delivered.
  void read_start() {
    char start[PayloadScan::kStart];
    ignore(read_stdin(start, sizeof start));
  }

  // The event is lost unless the transcript has it: warns the user and records the failure for the daemon.
  // When the home is not ours, it is recorded outside the home.
  void report_failure(const Error& error, bool home_is_ours) {
    learn_event();
    answer_.finish_broken("not recording: " + error.message);
    // The failure may have come before anything was read. The payload's start has the session's id, which the
    // daemon needs to find the transcript.
    if (scan_.empty()) read_start();
    note_failure(disk_, home_, home_is_ours,
                 {clock_.wall_ns() / kMs, arguments_.event, scan_.session(), error.message});
  }

  // Reads more of the payload; 0 at its end. When stdin fails or times out, that counts as the end: the part
  // that was read is kept. The deadline is for the whole payload, not for each read.
  Result<std::size_t> read_stdin(char* to, std::size_t size) {
    for (;;) {
      const std::int64_t left = std::max<std::int64_t>(started_ + kStdinNs - clock_.boot_ns(), 0);
      pollfd p{STDIN_FILENO, POLLIN, 0};
      const int ready = poll(&p, 1, static_cast<int>(left / kMs));
      if (ready == 0) return std::size_t{0};
      const ssize_t got = ready < 0 ? ready : read(STDIN_FILENO, to, size);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) return std::size_t{0};
      scan_.add({to, static_cast<std::size_t>(got)},
                arguments_.event.empty() ? PayloadScan::kAll : PayloadScan::kStart);
      return static_cast<std::size_t>(got);
    }
  }

  Start start() { return start_daemon(disk_, home_, clock_, cairn_beside_me(), false); }

  // Starts the daemon if none runs. When it has not taken its lock after half of the time, we stop waiting.
  // When the daemon ends while we ask (it died, or a new version replaces it), we ask the next one. The loop
  // ends at the deadline at the latest, because ask() then connects to nothing and returns false.
  void answer_session_start(const EventId& event) {
    const std::int64_t budget = flags_.session_start_ms * kMs;
    for (;;) {
      const Start state = start();
      if (state == Start::missing) return no_daemon("there is no `cairn` beside " + os::executable_path());
      if (state == Start::failed) return no_daemon(home_.start() + " cannot be written");
      if (!ask(event, started_ + budget, started_ + budget / 2) || !daemon_went_away()) break;
    }
    if (const std::string why = why_no_daemon(); !why.empty()) no_daemon(why);
  }

  void no_daemon(const std::string& why) {
    answer_.finish_broken("no memory in this session: the daemon cannot start: " + why);
  }

  // Why no daemon will answer; empty: one serves, or may be starting.
  std::string why_no_daemon() {
    return os::FileLock::is_held(home_.lock()) ? std::string() : why_not_started(disk_, home_);
  }

  // Whether the daemon that closed the connection is ending: then its lock is free. Otherwise it refused, and
  // asking again does not help. A daemon closes its connections before it releases its lock: give it 100 ms.
  bool daemon_went_away() {
    for (int tries = 0; tries < 20; ++tries) {
      if (!os::FileLock::is_held(home_.lock())) return true;
      pause(5 * kMs);
    }
    return false;
  }

  // Asks a daemon only if one runs. Otherwise it answers at once and starts one for the next event.
  void ask_running(const EventId& event) {
    if (os::FileLock::is_held(home_.lock())) {
      ask(event, started_ + flags_.user_prompt_submit_ms * kMs, started_);
    } else {
      answer_.finish();
      start();
    }
  }

  // Prints the daemon's reply if it comes in time and is valid. True: the connection ended without a reply;
  // daemon_went_away() says why.
  bool ask(const EventId& event, std::int64_t deadline, std::int64_t lock_deadline) {
    const os::Fd daemon = connect(deadline, lock_deadline);
    if (!daemon) return false;
    // A tenth of the time is kept for the reply.
    const std::string request = answer_request(event, left_ms(deadline) * 9 / 10);
    const Status sent = os::send_all(daemon.get(), request, deadline);
    if (!sent.ok()) return sent.error().code != Code::timeout;
    std::string rest;
    const auto line = os::read_line(daemon.get(), rest, kMaxAnswer, deadline);
    // `invalid`: a reply of more than kMaxAnswer bytes. The other errors mean that the connection ended.
    if (!line.ok()) return line.error().code != Code::timeout && line.error().code != Code::invalid;
    // A host that takes plain text would use any output as instructions: print only a reply marked as text.
    const std::string text =
        answer_.asks() == EventRule::Asks::text ? decode_text_reply(*line) : std::string();
    if (text.empty() && (answer_.asks() == EventRule::Asks::text || !is_object(*line))) return false;
    // Confirm only what the host has: an unconfirmed context is given again with the next prompt.
    if (text.empty() ? answer_.give_daemons(*line) : answer_.give(text))
      ignore(os::send_all(daemon.get(), kGiven, deadline));
    return false;
  }

  // A guard against printing nonsense to the host. The hook has no JSON parser.
  static bool is_object(std::string_view line) { return line.starts_with('{') && line.ends_with('}'); }

  static void pause(std::int64_t ns) {
    const timespec wait{0, static_cast<long>(ns)};
    nanosleep(&wait, nullptr);
  }

  // A connection to the daemon, which may still be starting. Gives up at `deadline`, when the lock is free
  // after `lock_deadline`, or when the daemon has recorded why it cannot serve.
  os::Fd connect(std::int64_t deadline, std::int64_t lock_deadline) {
    std::int64_t step = 5 * kMs;
    for (;;) {
      auto daemon = os::connect_unix(home_.socket(), left_ms(deadline));
      if (daemon.ok()) return std::move(*daemon);
      // `not_found`: no socket, or no daemon listens on it yet. Any other error does not go away by waiting.
      if (daemon.error().code != Code::not_found) return {};
      const std::int64_t now = clock_.boot_ns();
      if (now + step >= deadline) return {};
      if (now >= lock_deadline && !os::FileLock::is_held(home_.lock())) return {};
      if (!why_no_daemon().empty()) return {};
      pause(step);
      step = std::min(step + 5 * kMs, 25 * kMs);
    }
  }

  int left_ms(std::int64_t deadline) {
    return static_cast<int>(std::max<std::int64_t>((deadline - clock_.boot_ns()) / kMs, 0));
  }

  os::Disk& disk_;
  os::RealClock clock_;
  const std::int64_t started_ = clock_.boot_ns();
  Arguments arguments_;
  Home home_;
  Flags flags_;
  PayloadScan scan_;
  Answer& answer_;
};

}  // namespace

int run(os::Disk& disk, int argc, char** argv) {
  umask(077);
  // A host that has gone, and a file beyond the size limit of the process, are errors of a write. The signals
  // would end the hook without an answer.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  os::open_standard_descriptors();
  Arguments arguments = read_arguments(argc, argv);
  // A terminal as stdin: a person started it, and would wait for an event that never comes.
  if (arguments.help || isatty(STDIN_FILENO)) {
    print(kHelp);
    return 0;
  }
  Answer answer(arguments);
  if (is_disabled()) {
    answer.finish();
    return 0;
  }
  try {
    auto home = Home::from_environment();
    if (!home.ok()) answer.finish_broken("not recording: " + home.error().message);
    if (home.ok()) Hook(disk, std::move(arguments), std::move(*home), answer).run();
  } catch (...) {
    // Even without memory the host gets its answer.
  }
  answer.finish();
  return 0;
}

}  // namespace cairn::hook
