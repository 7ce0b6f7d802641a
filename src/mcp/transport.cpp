#include "mcp/transport.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace cairn::mcp {

static constexpr int kLookAgainMs = 100;  // how soon a write notices close()

void LineReader::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    // Reported at once, not at the line's end, which may never come.
    if (!skipping_ && rest_.size() + part.size() > kLongest) {
      skipping_ = true;
      rest_ = std::string();  // unlike clear(), it frees the memory
      too_long_();
    }
    if (!skipping_) rest_.append(part);
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    finish();
  }
}

void LineReader::finish() {
  std::string line = std::move(rest_);
  rest_.clear();
  if (skipping_) {
    skipping_ = false;
    return;
  }
  if (line.find_first_not_of(" \t\r") != std::string::npos) line_(line);
}

// The descriptor stays blocking, since other processes may share it. A pipe that poll() reports as writable
// takes PIPE_BUF bytes without blocking, so no write is larger.
bool LineWriter::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  std::string text(line);
  text += '\n';
  std::string_view left = text;
  while (!left.empty()) {
    if (closed_) return false;
    pollfd p{fd_, POLLOUT, 0};
    const int ready = poll(&p, 1, kLookAgainMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready > 0 && (p.revents & (POLLERR | POLLNVAL)) != 0) closed_ = true;
    if (closed_) return false;
    const ssize_t put =
        ready < 0 ? ready : ::write(fd_, left.data(), std::min<std::size_t>(left.size(), PIPE_BUF));
    if (put >= 0) {
      left.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno != EINTR && errno != EAGAIN) {
      closed_ = true;
      return false;
    }
  }
  return true;
}

}  // namespace cairn::mcp
