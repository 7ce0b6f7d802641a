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

// Two files are involved. daemon.lock is held by a daemon as long as it lives: this says whether one runs.
// daemon.start is locked only while a caller decides and starts a daemon, so that of many hooks at once one
// starts it. Its content is the record of the attempts, from which the pause until the next one follows.

namespace {

constexpr std::int64_t kFirstPauseNs = 5'000'000'000;
constexpr std::int64_t kLongestPauseNs = 300'000'000'000;
constexpr int kMostAttempts = 9999;       // four digits
constexpr std::size_t kRecordBytes = 66;  // the first line, with its line feed
constexpr std::size_t kMostBytes = 4096;  // of the whole file: the record and a reason
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

// An unreadable record counts as no attempt: a damaged file must never prevent a start.
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
  // A record of the future is damaged: it could prevent every start until then.
  if (last.attempts == 0 || last.boot_id != now.boot_id || last.boot_ns > now.boot_ns) return false;
  // The shift is limited to avoid an overflow. 5 s doubled 16 times is far beyond the longest pause.
  const std::int64_t pause = std::min(kFirstPauseNs << std::min(last.attempts - 1, 16), kLongestPauseNs);
  return now.boot_ns - last.boot_ns < pause;
}

}  // namespace

Start start_daemon(os::Disk& disk, const Home& home, os::Clock& clock, const std::string& cairn, bool force) {
  if (os::FileLock::is_held(home.lock())) return Start::running;
  if (!disk.stat(cairn).ok()) return Start::missing;
  auto lock = os::FileLock::acquire(home.start());
  // A caller that wrote no event before, such as a command, may find no home yet.
  if (!lock.ok() && lock.error().code == Code::not_found && os::make_dirs(disk, home.data).ok())
    lock = os::FileLock::acquire(home.start());
  if (!lock.ok()) return lock.error().code == Code::busy ? Start::waiting : Start::failed;
  // Another caller may have started it before we got the lock.
  if (os::FileLock::is_held(home.lock())) return Start::running;

  const Record last = decode(os::read_file(disk, home.start(), kMostBytes).value_or({}));
  // Encoded and decoded, because an unknown boot id is empty here, but 32 zeros in the record. Otherwise the
  // two would count as different boots, and there would be no pause.
  Record now = decode(encode({1, clock.boot_ns(), clock.boot_id()}));
  if (must_pause(last, now) && !force) return Start::waiting;
  const bool same_boot = last.boot_id == now.boot_id;
  now.attempts = same_boot ? std::min(last.attempts + 1, kMostAttempts) : 1;
  // Recorded before the start: the attempt counts even if this caller is killed right after it.
  lock->note(encode(now));
  const auto started =
      os::spawn_detached(cairn, {"cairn", "daemon", "run"}, os::reduced_environment(environ));
  return started.ok() ? Start::started : Start::failed;
}

std::string why_not_started(os::Disk& disk, const Home& home) {
  const auto text = os::read_file(disk, home.start(), kMostBytes, os::Open::read_own);
  if (!text.ok() || decode(*text).attempts == 0) return {};
  std::string_view why = std::string_view(*text).substr(kRecordBytes);
  // Without its line feed the reason is still being written.
  if (!why.starts_with(kWhy) || !why.ends_with('\n')) return {};
  why.remove_suffix(1);
  return std::string(why.substr(kWhy.size()));
}

void note_why_not_started(os::Disk& disk, const Home& home, std::string_view reason) {
  const auto text = os::read_file(disk, home.start(), kMostBytes, os::Open::read_own);
  if (!text.ok() || decode(*text).attempts == 0) return;
  // One printable line of limited length, so that readers find the whole file within kMostBytes.
  std::string why(kWhy);
  why += reason.substr(0, kMostBytes / 2);
  std::replace_if(
      why.begin(), why.end(), [](unsigned char c) { return c < ' '; }, '?');
  auto file = disk.open(home.start(), os::Open::read_write);
  if (file.ok()) ignore((*file)->write_at(kRecordBytes, why + '\n'));
}

void clear_start(os::Disk& disk, const Home& home) {
  // Truncate, do not remove: callers lock this file. After a removal a second caller would lock a new file
  // of the same name while the first one still holds the old one.
  auto file = disk.open(home.start(), os::Open::read_write);
  if (file.ok()) ignore((*file)->truncate(0));
}

std::string cairn_beside_me() {
  const std::string me = os::executable_path();
  return me.substr(0, me.find_last_of('/') + 1) + "cairn";
}

}  // namespace cairn::hook
