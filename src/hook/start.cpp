#include "hook/start.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "os/disk.h"
#include "os/lock.h"
#include "os/process.h"

namespace cairn::hook {

namespace {

constexpr std::int64_t kFirstPauseNs = 5'000'000'000;
constexpr std::int64_t kLongestPauseNs = 300'000'000'000;
constexpr int kMostAttempts = 9999;  // four digits
constexpr std::size_t kRecordBytes = 66;
constexpr std::size_t kMostBytes = 4096;
constexpr std::string_view kWhy = "why ";

struct Record {
  int attempts = 0;
  std::int64_t boot_ns = 0;
  std::string boot_id;
};

std::string digits(std::int64_t number, std::size_t width) {
  const std::string text = std::to_string(number);
  return std::string(width - std::min(width, text.size()), '0') + text;
}

std::string encode(const Record& record) {
  const std::string& id = record.boot_id;
  return "cairn1 " + digits(record.attempts, 4) + " " + digits(record.boot_ns, 20) + " " +
         (id.size() == 32 ? id : std::string(32, '0')) + "\n";
}

// An unreadable record counts as no attempt.
Record decode(std::string_view text) {
  Record record;
  if (text.size() < kRecordBytes || !text.starts_with("cairn1 ")) return {};
  std::from_chars(text.data() + 7, text.data() + 11, record.attempts);
  std::from_chars(text.data() + 12, text.data() + 32, record.boot_ns);
  record.boot_id = text.substr(33, 32);
  return encode(record) == text.substr(0, kRecordBytes) ? record : Record{};
}

// Whether the last attempt is so recent that another one must wait.
bool must_pause(const Record& last, const Record& now) {
  if (last.attempts == 0 || last.boot_id != now.boot_id || last.boot_ns > now.boot_ns) return false;
  const std::int64_t pause = std::min(kFirstPauseNs << std::min(last.attempts - 1, 16), kLongestPauseNs);
  return now.boot_ns - last.boot_ns < pause;
}

}  // namespace

Start start_daemon(os::Disk& disk, const Home& home, os::Clock& clock, const std::string& cairn, bool force) {
  if (os::FileLock::is_held(home.lock())) return Start::running;
  if (!disk.stat(cairn).ok()) return Start::missing;
  auto lock = os::FileLock::acquire(home.start());
  if (!lock.ok() && lock.error().code == Code::not_found && os::make_dirs(disk, home.data).ok())
    lock = os::FileLock::acquire(home.start());
  if (!lock.ok()) return lock.error().code == Code::busy ? Start::waiting : Start::failed;
  // Another caller may have started it before we got the lock.
  if (os::FileLock::is_held(home.lock())) return Start::running;

  const Record last = decode(os::read_file(disk, home.start(), kMostBytes).value_or({}));
  // Encode and decode, so that an unknown boot id equals a recorded one.
  Record now = decode(encode({1, clock.boot_ns(), clock.boot_id()}));
  if (must_pause(last, now) && !force) return Start::waiting;
  const bool same_boot = last.boot_id == now.boot_id;
  now.attempts = same_boot ? std::min(last.attempts + 1, kMostAttempts) : 1;
  lock->note(encode(now));
  const auto started =
      os::spawn_detached(cairn, {"cairn", "daemon", "run"}, os::reduced_environment(environ));
  return started.ok() ? Start::started : Start::failed;
}

std::string why_not_started(os::Disk& disk, const Home& home) {
  const auto text = os::read_file(disk, home.start(), kMostBytes, os::Open::read_own);
  if (!text.ok() || decode(*text).attempts == 0) return {};
  std::string_view why = std::string_view(*text).substr(kRecordBytes);
  if (!why.starts_with(kWhy) || !why.ends_with('\n')) return {};
  why.remove_suffix(1);
  return std::string(why.substr(kWhy.size()));
}

void note_why_not_started(os::Disk& disk, const Home& home, std::string_view reason) {
  const auto text = os::read_file(disk, home.start(), kMostBytes, os::Open::read_own);
  if (!text.ok() || decode(*text).attempts == 0) return;
  std::string why(kWhy);
  why += reason.substr(0, kMostBytes / 2);
  std::replace_if(
      why.begin(), why.end(), [](unsigned char c) { return c < ' '; }, '?');
  auto file = disk.open(home.start(), os::Open::read_write);
  if (file.ok()) ignore((*file)->write_at(kRecordBytes, why + '\n'));
}

void clear_start(os::Disk& disk, const Home& home) {
  // Truncate, do not remove: callers lock this file.
  auto file = disk.open(home.start(), os::Open::read_write);
  if (file.ok()) ignore((*file)->truncate(0));
}

std::string cairn_beside_me() {
  const std::string me = os::executable_path();
  return me.substr(0, me.find_last_of('/') + 1) + "cairn";
}

}  // namespace cairn::hook
