// Whether the daemon answers and the store is sound.
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/doctor.h"
#include "ops/operation.h"
#include "os/lock.h"
#include "os/socket.h"
#include "store/schema.h"
#include "store/sound.h"

namespace cairn::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kDaemon = "Daemon";
constexpr std::string_view kStore = "Store";
constexpr int kConnectMs = 1000;

std::int64_t waiting(Patient& patient) {
  const std::string inbox = patient.shell.home().inbox();
  std::size_t count = 0;
  for (const char* part : {"/new", "/cur"})
    count += patient.shell.disk().list(inbox + part).value_or({}).size();
  return static_cast<std::int64_t>(count);
}

// "pid 12 version 0.1.0", as the holder of the lock wrote it.
std::string holder(Patient& patient) {
  const std::string note =
      os::read_file(patient.shell.disk(), patient.shell.home().lock(), 4096).value_or("");
  return one_line(visible(valid_utf8(note)), 80);
}

Finding check_daemon(Patient& patient) {
  if (patient.daemon) {
    const Client::Daemon& daemon = patient.daemon->daemon();
    return passed(fmt::format("pid {}, up {}", daemon.pid, duration_text(daemon.uptime_s)));
  }
  if (patient.lock_held) {
    const std::string who = holder(patient);
    const std::string_view pid = split(who, ' ').size() > 1 ? split(who, ' ')[1] : std::string_view("PID");
    return failed(fmt::format("{} holds the lock but does not answer: {}", who, patient.no_daemon),
                  fmt::format("kill -9 {} && cairn doctor --fix", pid));
  }
  // The record of starts is emptied by a daemon that serves.
  const auto starts = patient.shell.disk().stat(patient.shell.home().start());
  if (starts && starts->size > 0)
    return failed("not running: it was started, but ended before it could answer", "cairn logs");
  if (const std::int64_t events = waiting(patient))
    return warned(fmt::format("not running, and {}", count_text(events, "event waits", "events wait")),
                  "cairn process");
  return skipped("not running: the next hook or command starts it");
}

Finding check_socket(Patient& patient) {
  const hook::Home& home = patient.shell.home();
  if (patient.daemon) {
    const std::int64_t begin = patient.shell.clock().boot_ns();
    const auto pong = patient.daemon->call("ping", Json::object(), 5s);
    const double ms = static_cast<double>(patient.shell.clock().boot_ns() - begin) / 1e6;
    if (pong) return passed(fmt::format("ping {:.2f} ms", ms));
    return failed(pong.error().message, "cairn daemon restart");
  }
  struct stat info;
  if (lstat(home.socket().c_str(), &info) != 0) {
    if (patient.lock_held)
      return failed(home.socket() + " is gone: nobody can reach the daemon", "cairn doctor --fix");
    return skipped("no daemon, no socket");
  }
  const auto tried = os::connect_unix(home.socket(), kConnectMs);
  const std::string why = tried ? "it answers to no request" : tried.error().message;
  if (patient.lock_held) return failed(why, "cairn logs");
  return warned(fmt::format("left over by a daemon that died: {}", why), "cairn daemon start");
}

Finding check_version(Patient& patient) {
  if (!patient.daemon) return skipped("not running");
  const std::string& version = patient.daemon->daemon().version;
  if (version == CAIRN_VERSION) return passed(version);
  return warned(fmt::format("the daemon is {}, this is {}", shown_line(version), CAIRN_VERSION),
                "cairn daemon restart");
}

// Why there is nothing to look at: no store yet, or one that cannot be opened.
Finding no_store(Patient& patient) {
  if (patient.no_db.empty()) return skipped("no store yet: the first event makes one");
  return skipped("the store cannot be read");
}

Finding check_file(Patient& patient) {
  if (patient.db) return passed(patient.shell.home().database());
  if (patient.no_db.empty()) return no_store(patient);
  return failed(patient.no_db, "cairn daemon restart");
}

Finding check_schema(Patient& patient) {
  if (!patient.db) return no_store(patient);
  const auto version = patient.db->integer("SELECT max(version) FROM schema_migrations");
  if (!version) return failed(version.error().message, "cairn daemon restart");
  const std::int64_t has = version->value_or(0), ours = store::schema().back().version;
  if (has > ours)
    return failed(fmt::format("version {}, made by a newer cairn; this one knows {}", has, ours),
                  "install the newer cairn again: ./setup");
  if (has < ours) return warned(fmt::format("version {} of {}", has, ours), "cairn daemon restart");
  return passed(fmt::format("version {}", has));
}

Finding check_integrity(Patient& patient) {
  if (!patient.db) return no_store(patient);
  if (const auto sound = patient.db->integrity_check(); !sound)
    return failed(sound.error().message, "cairn doctor --fix");
  if (const auto told = store::damage_told(*patient.db, patient.shell.clock().now()); told && *told)
    return warned(**told, "remove what was set aside once nothing is missed");
  return passed("quick check ok");
}

Finding check_write(Patient& patient) {
  const hook::Home& home = patient.shell.home();
  const std::int64_t begin = patient.shell.clock().boot_ns();
  const auto took = [&] { return static_cast<double>(patient.shell.clock().boot_ns() - begin) / 1e6; };
  if (patient.daemon) {
    const auto done = patient.daemon->call("probe", Json::object(), 10s);
    if (done) return passed(fmt::format("written by the daemon and rolled back in {:.2f} ms", took()));
    if (done.error().code == Code::unsupported) return skipped("the daemon is too old to be asked");
    return failed(done.error().message, "cairn logs");
  }
  if (!patient.db) return no_store(patient);
  if (patient.lock_held) return skipped("the daemon does not answer");
  const auto done = [&]() -> Status {
    const os::FileLock lock = TRY(os::FileLock::acquire(home.lock()));
    store::Db::Options options;
    options.path = home.database();
    store::Db db = TRY(store::Db::open(options));
    db.keep_wal(true);
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
