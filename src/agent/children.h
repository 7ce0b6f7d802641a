// Child processes of providers, such as a model's command-line program. They are sent lines and answer in
// lines. No call here blocks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "os/child.h"

namespace cairn::agent {

// Belongs to the writer's thread. Destroying it ends the child: its stdin is closed, and after a second its
// process group is killed.
class Child {
 public:
  virtual ~Child() = default;
  virtual void send(std::string_view line) = 0;
  // The next line of its output; nothing when there is none yet.
  virtual std::optional<std::string> receive() = 0;
  // The reason why the child ended, once its last line was received; nothing before.
  virtual std::optional<std::string> ended() = 0;
};

class Children {
 public:
  virtual ~Children() = default;
  // Starts a child. When that fails, ended() says why.
  virtual std::unique_ptr<Child> start(const os::Command& command) = 0;
};

}  // namespace cairn::agent
