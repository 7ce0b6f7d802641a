// A log: one line an entry, rotated by size. Only top levels write to it; others return errors.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace cairn {

// Thread-safe.
class Log {
 public:
  enum class Level { debug, info, warn, error };

  virtual ~Log() = default;
  // Writes "TIME LEVEL message" on one line; a message is cut to 4,000 bytes. Never fails: what cannot be
  // written is dropped.
  void write(Level level, std::string_view message);
  void debug(std::string_view m) { write(Level::debug, m); }
  void info(std::string_view m) { write(Level::info, m); }
  void warn(std::string_view m) { write(Level::warn, m); }
  void error(std::string_view m) { write(Level::error, m); }
  void set_level(Level level) { level_ = level; }

 protected:
  virtual void line(std::string_view text) = 0;  // called under the lock

 private:
  std::mutex mutex_;
  std::atomic<Level> level_ = Level::info;  // set by one thread while others write
};

// A log that keeps nothing, for tests and benchmarks.
class NullLog final : public Log {
  void line(std::string_view) override {}
};

// `path`, and `path.1` once it has grown to half of `max_bytes`: both together stay within it. Mode 0600.
class FileLog final : public Log {
 public:
  FileLog(std::filesystem::path path, std::uint64_t max_bytes);
  ~FileLog() override;

 private:
  void line(std::string_view text) override;
  void reopen();

  std::filesystem::path path_;
  std::uint64_t max_bytes_;
  std::uint64_t size_ = 0;
  int fd_ = -1;
};

std::optional<Log::Level> log_level(std::string_view name);

}  // namespace cairn
