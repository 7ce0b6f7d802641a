// Programs that distil: children that are spoken to in lines. A provider asks for one here and never waits
// for it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "os/child.h"

namespace cairn::agent {

// Belongs to the writer's thread. Destroying it ends the child: its stdin is closed, and what is left of its
// process group after a second is killed.
class Child {
 public:
  virtual ~Child() = default;
  virtual void send(std::string_view line) = 0;
  // The next line it said; nothing when there is none yet.
  virtual std::optional<std::string> receive() = 0;
  // Why there will be no more lines, once the last was received; nothing while there may be.
  virtual std::optional<std::string> ended() = 0;
};

class Children {
 public:
  virtual ~Children() = default;
  // Starts a child. That it could not be started is why it ended.
  virtual std::unique_ptr<Child> start(const os::Command& command) = 0;
};

}  // namespace cairn::agent
