#include "hook/run.h"

#include <fcntl.h>
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

namespace {

constexpr std::int64_t kMs = 1'000'000;
// A host that neither sends nor closes is waited for this long; what came until then is the payload.
constexpr std::int64_t kStdinNs = 5'000 * kMs;
constexpr std::size_t kMaxAnswer = 256u << 10;
constexpr std::uint64_t kMaxFailedFile = 64u << 10;

constexpr std::string_view kHelp =
    "cairn-hook " CAIRN_VERSION
    ": takes one event of a coding agent on stdin; the agent calls it, people call cairn.\n"
    "usage: cairn-hook EVENT [--host claude-code|codex|gemini|cursor|opencode] < event.json\n";

struct Arguments {
  std::string event;
  std::string host = "claude-code";
  bool help = false;
};

// Nothing is refused: an argument that says nothing to us must not cost the host its tool call.
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

// Descriptors 0 to 2 exist from here on. Where one was closed, the event's own file would take its number: it
// would be read as stdin, or be printed to.
void settle_descriptors() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
      const int opened = open("/dev/null", O_RDWR);
}

// Whether all of it was written; a host that does not read is given up on.
bool print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(STDOUT_FILENO, text.data(), text.size());
    if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EAGAIN) {
      pollfd p{STDOUT_FILENO, POLLOUT, 0};
      if (poll(&p, 1, 1000) <= 0) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// What the host reads: one line, once.
class Answer {
 public:
  // Whether the host has it.
  bool give(std::string_view line) {
    given_ = true;
    return print(std::string(line) + '\n');
  }
  // The fixed answer, unless one was given.
  void settle() {
    if (!given_) give(kFixedAnswer);
  }

 private:
  bool given_ = false;
};

// One run of the hook. Where it returns without having answered, the fixed answer is due.
class Hook {
 public:
  Hook(Arguments arguments, Home home, Answer& answer)
      : arguments_(std::move(arguments)), home_(std::move(home)), answer_(answer) {}

  void run() {
    if (!home_.check_inbox().ok()) return;  // another's: not even word of it may be left there
    flags_ =
        Flags::decode(os::read_file(disk_, home_.flags(), Flags::kBytes, os::Open::read_own).value_or({}));
    if (!flags_.capture) return;
    const Result<EventId> delivered = deliver();
    if (!delivered.ok()) {
      answer_.settle();
      leave_word(delivered.error());
      return;
    }
    if (arguments_.event.empty()) arguments_.event = scan_.event();
    if (arguments_.event == "SessionStart") {
      answer_session_start(*delivered);
    } else if (arguments_.event == "UserPromptSubmit") {
      answer_prompt(*delivered);
    } else {
      answer_.settle();
      start();
    }
  }

 private:
  Result<EventId> deliver() {
    Envelope envelope;
    envelope.event = arguments_.event;
    envelope.host = arguments_.host;
    envelope.host_process = os::nearest_host();
    envelope.project_dir = variable("CLAUDE_PROJECT_DIR");
    envelope.env_file = variable("CLAUDE_ENV_FILE");
    envelope.config_dir = variable("CLAUDE_CONFIG_DIR");
    envelope.entrypoint = variable("CLAUDE_CODE_ENTRYPOINT");
    const auto source = [this](char* to, std::size_t size) { return read_stdin(to, size); };
    return Inbox(disk_, clock_, home_.inbox()).deliver(std::move(envelope), source, flags_.sync);
  }

  // A stdin that breaks off ends there: what came is worth keeping.
  Result<std::size_t> read_stdin(char* to, std::size_t size) {
    for (;;) {
      const std::int64_t left = std::max<std::int64_t>(started_ + kStdinNs - clock_.boot_ns(), 0);
      pollfd p{STDIN_FILENO, POLLIN, 0};
      const int ready = poll(&p, 1, static_cast<int>(left / kMs));
      if (ready == 0) return std::size_t{0};
      const ssize_t got = ready < 0 ? ready : read(STDIN_FILENO, to, size);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) return std::size_t{0};
      if (arguments_.event.empty()) scan_.add({to, static_cast<std::size_t>(got)});
      return static_cast<std::size_t>(got);
    }
  }

  // For the user to be told. The daemon keeps room in this file as blanks, so that a line can be left on a
  // full disk too.
  void leave_word(const Error& error) {
    const std::string path = home_.inbox() + "/failed";
    const std::string text = os::read_file(disk_, path, kMaxFailedFile).value_or({});
    const std::size_t end = text.find_last_not_of(' ') + 1;
    std::string line = std::to_string(clock_.wall_ns() / kMs) + " " + arguments_.event.substr(0, 64) + " " +
                       error.message.substr(0, 512);
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, '?');
    line += '\n';
    if (end + line.size() > kMaxFailedFile) return;
    auto file = disk_.open(path, os::Open::read_write);
    if (file.ok()) ignore((*file)->write_at(end, line));
  }

  Start start() { return start_daemon(home_, clock_, cairn_beside_me(), false); }

  // The daemon may have to be started first. One that has not even taken its lock after half of the time is
  // not coming. One that goes away while we ask (it died, or made room for a new version) is followed by
  // another, which is asked again.
  void answer_session_start(const EventId& event) {
    const std::int64_t budget = flags_.session_start_ms * kMs;
    for (;;) {
      const Start state = start();
      if (state == Start::missing || state == Start::failed) return;
      if (!ask(event, started_ + budget, started_ + budget / 2) || !daemon_went_away()) return;
    }
  }

  // Whether the daemon that hung up is dying: its lock goes with it. One that lives has said no.
  bool daemon_went_away() {
    for (int tries = 0; tries < 20; ++tries) {
      if (!os::FileLock::is_held(home_.lock())) return true;
      pause(5 * kMs);
    }
    return false;
  }

  void answer_prompt(const EventId& event) {
    if (os::FileLock::is_held(home_.lock())) {
      ask(event, started_ + flags_.user_prompt_submit_ms * kMs, started_);
    } else {
      answer_.settle();
      start();
    }
  }

  // Gives the host what the daemon says, if that comes in time and looks like an answer. True when the daemon
  // went away before it had said anything.
  bool ask(const EventId& event, std::int64_t deadline, std::int64_t lock_deadline) {
    const os::Fd daemon = connect(deadline, lock_deadline);
    if (!daemon) return false;
    // A tenth is kept for the way back.
    const std::string request = answer_request(event, left_ms(deadline) * 9 / 10);
    const Status sent = os::send_all(daemon.get(), request, deadline);
    if (!sent.ok()) return sent.error().code != Code::timeout;
    std::string rest;
    const auto line = os::read_line(daemon.get(), rest, kMaxAnswer, deadline);
    if (!line.ok()) return line.error().code != Code::timeout && line.error().code != Code::invalid;
    if (!line->starts_with('{') || !line->ends_with('}')) return false;
    if (answer_.give(*line)) ignore(os::send_all(daemon.get(), kGiven, deadline));
    return false;
  }

  static void pause(std::int64_t ns) {
    const timespec wait{0, static_cast<long>(ns)};
    nanosleep(&wait, nullptr);
  }

  // A connection to the daemon, which may still be on its way up. Gives up at `deadline`, or when nobody
  // holds the lock after `lock_deadline`.
  os::Fd connect(std::int64_t deadline, std::int64_t lock_deadline) {
    std::int64_t step = 5 * kMs;
    for (;;) {
      auto daemon = os::connect_unix(home_.socket(), left_ms(deadline));
      if (daemon.ok()) return std::move(*daemon);
      if (daemon.error().code != Code::not_found) return {};
      const std::int64_t now = clock_.boot_ns();
      if (now + step >= deadline) return {};
      if (now >= lock_deadline && !os::FileLock::is_held(home_.lock())) return {};
      pause(step);
      step = std::min(step + 5 * kMs, 25 * kMs);
    }
  }

  int left_ms(std::int64_t deadline) {
    return static_cast<int>(std::max<std::int64_t>((deadline - clock_.boot_ns()) / kMs, 0));
  }

  os::RealDisk disk_;
  os::RealClock clock_;
  const std::int64_t started_ = clock_.boot_ns();
  Arguments arguments_;
  Home home_;
  Flags flags_;
  EventNameScan scan_;
  Answer& answer_;
};

}  // namespace

int run(int argc, char** argv) {
  umask(077);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  settle_descriptors();
  Arguments arguments = read_arguments(argc, argv);
  if (arguments.help || isatty(STDIN_FILENO)) {
    print(kHelp);
    return 0;
  }
  Answer answer;
  try {
    auto home =
        is_disabled() ? Result<Home>(Error{Code::canceled, "switched off"}) : Home::from_environment();
    if (home.ok()) Hook(std::move(arguments), std::move(*home), answer).run();
  } catch (...) {
    // Out of memory, say: the host gets its answer all the same.
  }
  answer.settle();
  return 0;
}

}  // namespace cairn::hook
