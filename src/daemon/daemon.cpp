#include "daemon/daemon.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>

#include "daemon/children.h"
#include "daemon/control.h"
#include "daemon/dispatcher.h"
#include "daemon/engine.h"
#include "daemon/http.h"
#include "daemon/jobs.h"
#include "daemon/loop.h"
#include "daemon/server.h"
#include "daemon/watch.h"
#include "hook/start.h"
#include "os/clock.h"
#include "os/crash.h"
#include "os/disk.h"
#include "os/lock.h"
#include "os/owner.h"
#include "os/process.h"
#include "os/socket.h"
#include "store/open_store.h"

// run() prepares the process, serve_home() takes the home's lock. Daemon::open() opens the store, serve()
// starts the threads, listens, and runs the loop until stop(); then it ends the threads and closes the store.
// After an upgrade, run() replaces the process by the new executable. ARCHITECTURE.md, "Threads of the
// daemon", says which thread owns what.

namespace cairn::daemon {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMinute(60'000);
// When the pages of a large store are checked: the session that started the daemon has its answer by then.
constexpr milliseconds kCheckAfter = std::chrono::seconds(3);
constexpr milliseconds kUnwatched(1'000);     // how often the inbox is scanned when it cannot be watched
constexpr milliseconds kBeingRemoved(1'000);  // `rm -r` may need this long from the inbox to the home itself

// The executable as it was at our start: another file at its path is an upgrade.
struct Image {
  std::string path;
  os::Stat stat;
  static Image now(os::Disk& disk) {
    Image image{os::executable_path(), {}};
    if (auto stat = disk.stat(image.path)) image.stat = *stat;
    return image;
  }
  // A file that is missing or cannot be run is no upgrade: we would end, and nothing could take our place.
  bool replaced(os::Disk& disk) const {
    const auto there = disk.stat(path);
    return there && (there->inode != stat.inode || there->modified_ns != stat.modified_ns) &&
           os::may_run(path);
  }
};

class Daemon {
 public:
  // Call under the home's lock.
  Daemon(os::Disk& disk, const hook::Home& home, const MakeProvider& make_provider,
         std::unique_ptr<FileLog> log)
      : disk_(disk),
        home_(home),
        make_provider_(make_provider),
        log_(std::move(log)),
        image_(Image::now(disk_)),
        lock_inode_(inode_of_lock()) {}

  Status serve();
  bool upgraded() const { return upgraded_; }
  const std::string& executable() const { return image_.path; }

 private:
  void watch();
  void arrived();
  void tick();
  void stop(std::string_view reason);
  std::optional<std::uint64_t> inode_of_lock();
  void end_if_home_is_gone();
  void stop_if_idle();
  void note_idle_limit();
  void found_damage(const std::string& damage);
  Status open();
  Result<bool> step();
  std::optional<milliseconds> until_wake();

  os::Disk& disk_;
  hook::Home home_;
  const MakeProvider& make_provider_;
  os::RealClock clock_;
  os::RealProcesses processes_;
  std::unique_ptr<FileLog> log_;
  Image image_;
  std::optional<std::uint64_t> lock_inode_;
  bool upgraded_ = false;
  std::atomic<std::int64_t> last_activity_ns_ = 0;
  std::atomic<std::int64_t> idle_limit_ns_ = 0;
  std::optional<InboxWatch> watch_;
  bool watch_lost_ = false;
  std::atomic<bool> damaged_ = false;

  // Destroyed from the last to the first: the threads end before the parts that they use.
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<LoopChildren> children_;
  std::unique_ptr<LoopHttp> http_;
  std::unique_ptr<agent::Provider> provider_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<ControlServer> control_;
  std::unique_ptr<JobThread> reader_;
  std::unique_ptr<JobThread> slow_reader_;
  std::unique_ptr<JobThread> writer_;
};

void Daemon::stop(std::string_view reason) {
  log_->info(fmt::format("daemon stops: {}", reason));
  loop_->stop();
}

std::optional<std::uint64_t> Daemon::inode_of_lock() {
  const auto stat = disk_.stat(home_.lock());
  return stat ? std::optional(stat->inode) : std::nullopt;
}

// A daemon whose lock file was deleted no longer protects the home: hooks start another daemon. It ends at
// once and writes nothing more, because the files at these paths are not ours any more.
void Daemon::end_if_home_is_gone() {
  if (inode_of_lock() == lock_inode_) return;
  log_->warn("daemon stops: its home was deleted");
  _exit(0);
}

// Called from any thread; only the first report counts. This daemon has the store open and cannot rebuild it:
// it notes the damage and stops, and the next one rebuilds the store at its start.
void Daemon::found_damage(const std::string& damage) {
  if (damage.empty() || damaged_.exchange(true)) return;
  if (auto noted = store::note_damage(disk_, home_.database(), damage, clock_.now()); !noted)
    log_->error(noted.error().message);
  loop_->post([this, damage] { stop("the store is damaged: " + damage); });
}

void Daemon::stop_if_idle() {
  if (clock_.boot_ns() - last_activity_ns_ > idle_limit_ns_) stop("idle");
}

// Runs on the writer's thread, which owns the settings.
void Daemon::note_idle_limit() {
  idle_limit_ns_ =
      static_cast<std::int64_t>(engine_->settings().json("daemon.idle_exit_minutes").as_double(120) * 60e9);
}

void Daemon::arrived() {
  last_activity_ns_ = clock_.boot_ns();
  if (watch_ && !watch_->drain()) {
    log_->warn("inbox: the watched directory is gone; a new one is watched within a minute");
    watch_lost_ = true;
    // Perhaps the whole home is being deleted: a directory that we create now would prevent that.
    loop_->after(kBeingRemoved, [this] {
      end_if_home_is_gone();
      writer_->wake();
    });
    return;
  }
  writer_->wake();
}

void Daemon::watch() {
  auto opened = InboxWatch::open(home_.inbox() + "/new");
  if (opened) {
    watch_.emplace(*std::move(opened));
    loop_->on_readable(watch_->fd(), [this] { arrived(); });
    return;
  }
  log_->warn("inbox cannot be watched and is scanned every second: " + opened.error().message);
  loop_->every(kUnwatched, [this] { writer_->wake(); });
}

void Daemon::tick() {
  end_if_home_is_gone();
  writer_->post([this] {
    if (auto done = engine_->tick(); !done) log_->error("minute: " + done.error().message);
    note_idle_limit();
  });
  writer_->wake();  // scan even if the watch reports nothing
  if (watch_lost_) watch_lost_ = !watch_->again().ok();
  stop_if_idle();
  if (image_.replaced(disk_)) {
    upgraded_ = true;
    stop("a new version is installed");
  }
}

// Runs on the writer's thread. Every processed message restarts the idle time.
Result<bool> Daemon::step() {
  const std::int64_t before = engine_->processed();
  auto more = engine_->step();
  found_damage(engine_->db().damage());
  if (engine_->processed() != before) last_activity_ns_ = clock_.boot_ns();
  return more;
}

std::optional<milliseconds> Daemon::until_wake() {
  const auto at = engine_->wake_at();
  if (!at) return std::nullopt;
  const std::int64_t ms = (*at - clock_.boot_ns()) / 1'000'000 + 1;
  return milliseconds(std::max<std::int64_t>(ms, 1));
}

Status Daemon::open() {
  loop_ = TRY(Loop::create());
  // writer_ is still null, but these callbacks run on the loop's thread, and serve() makes the writer before
  // it runs the loop.
  children_ = std::make_unique<LoopChildren>(*loop_, *log_, [this] { writer_->wake(); });
  http_ = std::make_unique<LoopHttp>(*loop_, [this] { writer_->wake(); });
  Engine::Seams seams{disk_, clock_, processes_, *log_};
  if (make_provider_) {
    provider_ = make_provider_(*children_);
    seams.provider = provider_.get();
  } else {
    seams.make_provider = [this](const agent::ProviderSettings& settings) {
      return agent::make_provider(settings, {*children_, *http_, disk_, clock_, home_.data + "/agent"});
    };
  }
  engine_ = TRY(Engine::open(home_, seams));
  return {};
}

Status Daemon::serve() {
  TRY(open());
  const bool is_checked = TRY(store::is_small(engine_->db()));  // then opening it checked every page
  writer_ = std::make_unique<JobThread>(
      "writer", *log_, [this] { return step(); }, [this] { return until_wake(); });
  reader_ = std::make_unique<JobThread>("reader", *log_);
  slow_reader_ = std::make_unique<JobThread>("slow reader", *log_);
  last_activity_ns_ = clock_.boot_ns();
  dispatcher_ = std::make_unique<Dispatcher>(Dispatcher::Parts{
      home_, disk_, clock_, *loop_, *engine_, *writer_, *reader_, *slow_reader_, [this] { stop("asked to"); },
      [this](const std::string& what) { found_damage(what); }});
  server_ = std::make_unique<Server>(Server::Parts{clock_, *log_, *loop_, *engine_, *writer_, *dispatcher_,
                                                   [this] { last_activity_ns_ = clock_.boot_ns(); }});
  control_ = TRY(ControlServer::listen(
      *loop_, home_.socket(), *log_,
      [this](const auto& connection, std::string_view line) { server_->handle(connection, line); }));
  // Only here, where clients can connect: a daemon that dies before this counts as a failed start, and hooks
  // wait longer before the next attempt.
  hook::clear_start(disk_, home_);
  watch();
  loop_->every(kMinute, [this] { tick(); });
  if (!is_checked) loop_->after(kCheckAfter, [this] { dispatcher_->check_store(); });
  note_idle_limit();
  // tick() checks for idleness too, but only once a minute: too seldom for a limit of seconds.
  const milliseconds idle_check(std::clamp<std::int64_t>(idle_limit_ns_ / 2'000'000, 50, kMinute.count()));
  loop_->every(idle_check, [this] { stop_if_idle(); });
  loop_->on_signal(SIGUSR1, [this] { tick(); });  // run the minute's timer now
  for (const int number : {SIGTERM, SIGINT}) loop_->on_signal(number, [this] { stop("signal"); });
  log_->info(fmt::format("daemon serves version={} pid={} home={}", CAIRN_VERSION, getpid(), home_.data));
  writer_->wake();  // events that arrived before the watch began
  loop_->run();

  // First the name of the socket, so that no client connects to a daemon that ends. Then the threads: the
  // engine belongs to the writer's thread until that has ended.
  os::remove_unix(home_.socket());
  dispatcher_->stop();
  writer_->stop();
  reader_->stop();
  slow_reader_->stop();
  if (auto ended = engine_->stop(); !ended) log_->error("queue: " + ended.error().message);
  ignore(engine_->db().checkpoint(false));  // if it fails, the next start reads the WAL as it is
  return {};
}

// Serves under the lock. True: the executable was replaced, start the new one.
Result<bool> serve_home(os::Disk& disk, const hook::Home& home, const MakeProvider& make_provider,
                        std::string& executable) {
  TRY(os::make_dirs(disk, home.data));
  TRY(home.check());
  TRY(os::close_to_others(home.data));
  // Declared before the daemon, so that it is released after the store is closed: the next daemon must not
  // open the store before that.
  os::FileLock lock = TRY(os::FileLock::acquire(home.lock()));
  lock.note(fmt::format("pid {} version {}\n", getpid(), CAIRN_VERSION));
  TRY(os::make_dirs(disk, home.logs()));
  const auto max_bytes = static_cast<std::uint64_t>(ops::Settings::load(disk, home).integer("log.max_mb"))
                         << 20;
  auto log = std::make_unique<FileLog>(home.log_file(), max_bytes);
  FileLog& out = *log;
  Daemon daemon(disk, home, make_provider, std::move(log));
  executable = daemon.executable();
  if (auto served = daemon.serve(); !served) {
    out.error("daemon cannot serve: " + served.error().message);
    return std::move(served).error();
  }
  return daemon.upgraded();
}

}  // namespace

int run(os::Disk& disk, const hook::Home& home, const MakeProvider& make_provider) {
  umask(077);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a file size limit is handled like a full disk
  os::watch_for_crashes();
  if (chdir("/") != 0) return 1;  // else the caller's directory would stay in use
  std::string executable;
  const auto upgraded = serve_home(disk, home, make_provider, executable);
  if (!upgraded) {
    if (upgraded.error().code == Code::busy) return 0;  // another daemon serves this home
    hook::note_why_not_started(disk, home, upgraded.error().message);
    std::fprintf(stderr, "cairn: daemon: %s\n", upgraded.error().message.c_str());
    return 1;
  }
  if (!*upgraded) return 0;
  // The lock is free again. If a daemon that a hook started takes it first, the new process ends with 0.
  execl(executable.c_str(), "cairn", "daemon", "run", nullptr);
  return 1;
}

}  // namespace cairn::daemon
