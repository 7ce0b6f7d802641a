#include "base/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "base/text.h"
#include "base/time.h"

namespace cairn {

static std::string_view level_name(Log::Level level) {
  switch (level) {
    case Log::Level::debug: return "debug";
    case Log::Level::info: return "info";
    case Log::Level::warn: return "warn";
    case Log::Level::error: return "error";
  }
  return "error";
}

std::optional<Log::Level> log_level(std::string_view name) {
  for (const auto level : {Log::Level::debug, Log::Level::info, Log::Level::warn, Log::Level::error})
    if (name == level_name(level)) return level;
  return std::nullopt;
}

void Log::write(Level level, std::string_view message) {
  if (level < level_) return;
  // The time is taken under the lock, so that the lines are in the order of their times.
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  std::string text = iso8601(now);
  text.append(" ")
      .append(level_name(level))
      .append(" ")
      .append(one_line(visible(message), 4000))
      .append("\n");
  line(text);
}

FileLog::FileLog(std::filesystem::path path, std::uint64_t max_bytes)
    : path_(std::move(path)), max_bytes_(max_bytes) {
  reopen();
}

FileLog::~FileLog() {
  if (fd_ >= 0) close(fd_);
}

void FileLog::reopen() {
  if (fd_ >= 0) close(fd_);
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  struct stat st {};
  size_ = fd_ >= 0 && fstat(fd_, &st) == 0 ? static_cast<std::uint64_t>(st.st_size) : 0;
}

void FileLog::line(std::string_view text) {
  if (fd_ < 0) reopen();  // the directory may exist by now
  if (fd_ < 0) return;
  if (size_ + text.size() > max_bytes_ / 2) {
    // When the file cannot be renamed, it grows beyond the limit: better than losing the newest lines.
    const std::string old = path_.string() + ".1";
    if (rename(path_.c_str(), old.c_str()) == 0) reopen();
    if (fd_ < 0) return;
  }
  const ssize_t written = ::write(fd_, text.data(), text.size());
  if (written > 0) size_ += static_cast<std::uint64_t>(written);
}

}  // namespace cairn
