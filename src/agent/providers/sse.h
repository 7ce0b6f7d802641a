// Server-sent events: the form in which model APIs stream a reply.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::agent {

// Collects pieces of a response and gives back the data of each complete event.
class EventStream {
 public:
  // The data of the events that `piece` completes, in order. Other fields and comments are dropped.
  std::vector<std::string> add(std::string_view piece);

 private:
  std::string line_;  // begun, not ended
  std::string data_;  // of the current event
  bool has_data_ = false;
};

}  // namespace cairn::agent
