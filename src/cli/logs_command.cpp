#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "cli/commands.h"

namespace cairn::cli {

namespace {

constexpr std::uint64_t kTail = 8u << 20;  // of each file; earlier lines are not searched
constexpr int kPollMs = 200;               // how often --follow looks for new lines

Result<std::string> read_from(os::File& file, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  bytes.resize(TRY(file.read_at(offset, bytes.data(), bytes.size())));
  return bytes;
}

// The end of a file, starting at a line.
std::string tail_of(os::Disk& disk, const std::string& path) {
  auto file = disk.open(path, os::Open::read);
  if (!file) return {};
  const std::uint64_t size = (*file)->size().value_or(0);
  const std::uint64_t from = size > kTail ? size - kTail : 0;
  std::string bytes = read_from(**file, from, size - from).value_or("");
  if (from > 0) bytes.erase(0, std::min(bytes.find('\n'), bytes.size() - 1) + 1);
  return bytes;
}

std::string last_lines(std::string_view text, std::size_t count) {
  const bool ended = text.ends_with('\n');
  std::string_view body = ended ? text.substr(0, text.size() - 1) : text;
  std::size_t at = body.size();
  for (std::size_t found = 0; at > 0; --at)
    if (body[at - 1] == '\n' && ++found == count) break;
  return count == 0 ? std::string() : std::string(text.substr(at));
}

Style style_of(std::string_view line) {
  // "TIME LEVEL message"
  const auto words = split(line.substr(0, 64), ' ');
  const std::string level = words.size() > 1 ? ascii_lower(words[1]) : "";
  if (level == "error") return Style::bad;
  if (level == "warn") return Style::warn;
  return level == "debug" ? Style::dim : Style::plain;
}

void print_log(const Shell& shell, std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return;
  for (const std::string_view line : split(text, '\n'))
    shell.print(shell.screen().paint(style_of(line), shown(line)) + "\n");
  std::fflush(stdout);
}

// Continues where the last read ended. A new file of that name is read from its start, after the rest of the
// old one.
class Follower {
 public:
  Follower(os::Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}

  // Skips existing lines.
  void skip() {
    open();
    if (file_) offset_ = file_->size().value_or(0);
  }

  // New complete lines.
  std::string next() {
    // First the rest of the old file: its last lines were written before it was renamed.
    std::string text = std::exchange(unfinished_, {}) + rest();
    const auto there = disk_.stat(path_);
    if (there && (!file_ || there->inode != inode_)) {
      open();
      text += rest();
    }
    const std::size_t end = text.rfind('\n') + 1;  // 0 when there is none
    unfinished_ = text.substr(end);
    text.resize(end);
    return text;
  }

 private:
  void open() {
    auto file = disk_.open(path_, os::Open::read);
    const auto there = disk_.stat(path_);
    if (!file || !there) return;
    file_ = *std::move(file);
    inode_ = there->inode;
    offset_ = 0;
  }

  std::string rest() {
    if (!file_) return {};
    const std::uint64_t size = file_->size().value_or(offset_);
    if (size < offset_) offset_ = 0;  // it was truncated
    std::string bytes = read_from(*file_, offset_, std::min(size - offset_, kTail)).value_or("");
    offset_ += bytes.size();
    return bytes;
  }

  os::Disk& disk_;
  std::string path_;
  std::unique_ptr<os::File> file_;
  std::uint64_t inode_ = 0;
  std::uint64_t offset_ = 0;
  std::string unfinished_;
};

}  // namespace

Result<int> logs_command(Shell& shell) {
  const auto count = static_cast<std::size_t>(shell.checked().integer("lines"));
  const bool follow = shell.flag("follow");
  if (shell.json()) return Error{Code::invalid, "logs: has no JSON form: leave out --json"};
  const std::string path = shell.home().log_file();
  if (!follow && !shell.disk().stat(path).ok())
    return Error{Code::not_found,
                 fmt::format("there is no log at {} yet: no daemon has run in this home", path)};

  // Before the last lines are printed: a line that comes in between is perhaps shown twice, but never missed.
  Follower follower(shell.disk(), path);
  if (follow) follower.skip();
  print_log(shell, last_lines(tail_of(shell.disk(), path + ".1") + tail_of(shell.disk(), path), count));
  while (follow) {
    print_log(shell, follower.next());
    // Sleeps, and ends when the reader of our output is gone.
    pollfd out{STDOUT_FILENO, 0, 0};
    if (poll(&out, 1, kPollMs) > 0 && (out.revents & (POLLERR | POLLNVAL))) return 0;
  }
  return 0;
}

}  // namespace cairn::cli
