#include "agent/providers/sse.h"

#include <utility>

namespace cairn::agent {

// An event is lines up to an empty one; its data is that of its "data:" lines. A piece may end anywhere,
// also between '\r' and '\n': line_ and data_ keep what is incomplete.
std::vector<std::string> EventStream::add(std::string_view piece) {
  std::vector<std::string> events;
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    line_ += piece.substr(0, end);
    if (end == std::string_view::npos) break;
    piece.remove_prefix(end + 1);
    std::string line = std::exchange(line_, {});
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() && has_data_) {
      events.push_back(std::exchange(data_, {}));
      has_data_ = false;
    } else if (line.starts_with("data:")) {
      if (has_data_) data_ += '\n';
      data_ += std::string_view(line).substr(line.starts_with("data: ") ? 6 : 5);
      has_data_ = true;
    }
  }
  return events;
}

}  // namespace cairn::agent
