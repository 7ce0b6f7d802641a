// Checks that the daemon answers and the store is undamaged.
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/doctor.h"
#include "ops/operation.h"
#include "os/lock.h"
#include "os/socket.h"
#include "store/migrate.h"
#include "store/open_store.h"
#include "store/schema.h"

namespace cairn::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kDaemon = "Daemon";
constexpr std::string_view kStore = "Store";
constexpr int kConnectMs = 1000;

// Events in the inbox: `cur` has those that a daemon was reading when it ended.
std::int64_t waiting(Installation& here) {
  const std::string inbox = here.shell.home().inbox();
  std::size_t count = 0;
  for (const char* part : {"/new", "/cur"}) count += here.shell.disk().list(inbox + part).value_or({}).size();
  return static_cast<std::int64_t>(count);
}

Finding check_daemon(Installation& here) {
  if (here.daemon) {
    const Client::Daemon& daemon = here.daemon->daemon();
    return passed(fmt::format("pid {}, up {}", daemon.pid, duration_text(daemon.uptime_s)));
  }
  if (here.lock_held) {
    const auto pid = daemon_process(here.shell.disk(), here.shell.home());
    if (!pid)
      return failed("it holds its lock, but its process cannot be seen from here", "end it where it runs");
    return failed(fmt::format("pid {} runs, but does not answer: {}. Nothing is lost when it is killed", *pid,
                              here.no_daemon),
                  fmt::format("kill -9 {}", *pid));
  }
  if (!here.obstacles.empty())
    return failed("cannot start: " + here.obstacles[0].what, here.obstacles[0].fix);
  // A daemon that serves has emptied the record of starts.
  const auto starts = here.shell.disk().stat(here.shell.home().start());
  if (starts && starts->size > 0) {
    const std::string error = last_error(here.shell.disk(), here.shell.home());
    return failed(fmt::format("cannot start: {}", error.empty() ? "it ended before it could answer" : error),
                  "cairn daemon start, then cairn logs");
  }
  if (const std::int64_t events = waiting(here))
    return warned(
        fmt::format("not running, and {}", count_text(events, "event is pending", "events are pending")),
        "cairn process");
  return skipped("not running: the next hook or command starts it");
}

Finding check_socket(Installation& here) {
  const hook::Home& home = here.shell.home();
  if (here.daemon) {
    const std::int64_t begin = here.shell.clock().boot_ns();
    const auto pong = here.daemon->call("ping", Json::object(), 5s);
    const double ms = static_cast<double>(here.shell.clock().boot_ns() - begin) / 1e6;
    if (pong) return passed(fmt::format("ping {:.2f} ms", ms));
    return failed(pong.error().message, "cairn daemon restart");
  }
  if (!here.obstacles.empty()) return skipped("no daemon can start");
  if (here.lock_held) return skipped("see process");
  struct stat info;
  if (lstat(home.socket().c_str(), &info) != 0) return skipped("no daemon, no socket");
  const auto tried = os::connect_unix(home.socket(), kConnectMs);
  return warned(fmt::format("left over by a daemon that died: {}",
                            tried ? "it does not answer" : tried.error().message),
                "cairn daemon start");
}

Finding check_version(Installation& here) {
  if (!here.daemon) return skipped("not running");
  const std::string& version = here.daemon->daemon().version;
  if (version == CAIRN_VERSION) return passed(version);
  return warned(fmt::format("the daemon is {}, this is {}", shown_line(version), CAIRN_VERSION),
                "cairn daemon restart");
}

// Why there is no store to check: it does not exist yet, or cannot be opened.
Finding no_store(Installation& here) {
  if (!here.obstacles.empty()) return skipped("see Home");
  if (here.half_made) return skipped("the store is incomplete");
  if (here.no_db.empty()) return skipped("no store yet: the first event makes one");
  return skipped("the store cannot be read");
}

Finding check_file(Installation& here) {
  if (here.db) return passed(here.shell.home().database());
  if (here.no_db.empty() || !here.obstacles.empty()) return no_store(here);
  return failed(here.no_db, "cairn daemon restart");
}

Finding check_schema(Installation& here) {
  if (here.half_made)
    return failed("incomplete: a daemon ended while it created the store; the next one completes it",
                  "cairn daemon restart");
  if (!here.db) return no_store(here);
  const auto version = store::schema_version(*here.db);
  if (!version) return failed(version.error().message, "cairn doctor --fix");
  const std::int64_t has = *version, ours = store::schema().back().version;
  if (has > ours)
    return failed(fmt::format("version {}, made by a newer cairn; this one knows {}", has, ours),
                  "install the newer cairn again: ./setup");
  if (has < ours) return warned(fmt::format("version {} of {}", has, ours), "cairn daemon restart");
  return passed(fmt::format("version {}", has));
}

Finding check_integrity(Installation& here) {
  if (!here.db) return no_store(here);
  if (const auto checked = here.db->integrity_check(); !checked)
    return failed(checked.error().message, "cairn doctor --fix");
  if (const auto damage = store::recent_damage(*here.db, here.shell.clock().now()); damage && *damage)
    return warned(**damage, "remove the damaged file once nothing is missed");
  return passed("quick check ok");
}

Finding check_write(Installation& here) {
  const hook::Home& home = here.shell.home();
  const std::int64_t begin = here.shell.clock().boot_ns();
  const auto took = [&] { return static_cast<double>(here.shell.clock().boot_ns() - begin) / 1e6; };
  if (here.daemon) {
    const auto done = here.daemon->call("probe", Json::object(), 10s);
    if (done) return passed(fmt::format("written by the daemon and rolled back in {:.2f} ms", took()));
    if (done.error().code == Code::unsupported) return skipped("the daemon is too old to be asked");
    return failed(done.error().message, "cairn logs");
  }
  if (!here.db || !here.obstacles.empty()) return no_store(here);
  if (here.lock_held) return skipped("the daemon does not answer");
  const auto done = [&]() -> Status {
    // As the daemon would write: under the lock, so that none starts meanwhile.
    const os::FileLock lock = TRY(os::FileLock::acquire(home.lock()));
    store::Db::Options options;
    options.path = home.database();
    store::Db db = TRY(store::Db::open(options));
    db.keep_wal(true);  // a check changes nothing: the next daemon finds the files as they were
    return ops::write_probe(db);
  }();
  if (!done) return failed(done.error().message, fmt::format("chmod -R u+rwX {}", home.data));
  return passed(fmt::format("written and rolled back in {:.2f} ms", took()));
}

}  // namespace

std::vector<Check> store_checks() {
  return {{kDaemon, "process", check_daemon},  {kDaemon, "socket", check_socket},
          {kDaemon, "version", check_version}, {kStore, "file", check_file},
          {kStore, "schema", check_schema},    {kStore, "integrity", check_integrity},
          {kStore, "write", check_write}};
}

}  // namespace cairn::cli
