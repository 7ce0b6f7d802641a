// The transport: messages as lines, on two descriptors. Knows nothing of what they say.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace cairn::mcp {

// Cuts what arrives into lines. Belongs to one thread.
class LineReader {
 public:
  // The longest line: far above what a tool's arguments need. A longer one is skipped up to its end.
  static constexpr std::size_t kLongest = 4u << 20;

  using Line = std::function<void(std::string_view line)>;
  using TooLong = std::function<void()>;
  LineReader(Line line, TooLong too_long) : line_(std::move(line)), too_long_(std::move(too_long)) {}

  // Gives every line that is complete now, without its end. Empty lines are left out.
  void add(std::string_view bytes);
  // Call when the input has ended: gives the last line if it had no line feed.
  void finish();

 private:
  Line line_;
  TooLong too_long_;
  std::string rest_;
  bool skipping_ = false;
};

// Writes lines. Thread-safe.
class LineWriter {
 public:
  explicit LineWriter(int fd) : fd_(fd) {}

  // Writes the line whole, however slowly the peer reads. False: the peer is gone, or close() was called.
  bool write(std::string_view line);
  // Ends a write that waits for the peer, and all later ones.
  void close() { closed_ = true; }
  bool closed() const { return closed_; }

 private:
  const int fd_;
  std::mutex mutex_;
  std::atomic<bool> closed_ = false;
};

}  // namespace cairn::mcp
