// The providers' child processes, started, read and reaped on the loop's thread. That thread lives as long as
// the daemon: the kernel kills a child when the thread that started it ends.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/children.h"
#include "base/log.h"
#include "daemon/loop.h"

struct bufferevent;

namespace cairn::daemon {

// start() and the children it returns belong to the writer's thread; everything else runs on the loop's
// thread. Destroy it after the loop has ended; it kills the children that are left.
class LoopChildren final : public agent::Children {
 public:
  // `on_news` is called on the loop's thread when a child wrote a line or ended.
  LoopChildren(Loop& loop, Log& log, std::function<void()> on_news);
  ~LoopChildren() override;

  std::unique_ptr<agent::Child> start(const os::Command& command) override;

 private:
  struct Mailbox;
  struct Process;
  class Handle;

  void spawn(int id, const os::Command& command, const std::shared_ptr<Mailbox>& mailbox);
  void write(int id, const std::string& line);
  void end(int id);
  void read(Process& process);
  void hung_up(Process& process, const char* why = "the child ended");
  void collect();

  Loop& loop_;
  Log& log_;
  std::function<void()> on_news_;
  int next_ = 0;  // used by the writer's thread only
  std::map<int, std::unique_ptr<Process>> processes_;
};

}  // namespace cairn::daemon
