// The control socket's transport alone: which connections are closed, and which are not.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "daemon/children.h"
#include "daemon/control.h"
#include "support/temp_dir.h"
#include "support/wait.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

// Knows when a connection was refused.
class RefusalLog final : public Log {
 public:
  std::atomic<bool> refused = false;

 private:
  void line(std::string_view text) override {
    if (text.find("another user") != std::string_view::npos) refused = true;
  }
};

class Control : public testing::Test {
 protected:
  Control() {
    loop_ = *daemon::Loop::create();
    server_ = *daemon::ControlServer::listen(
        *loop_, path_, log_,
        [this](const std::shared_ptr<daemon::Connection>& connection, std::string_view line) {
          if (line != "work") return connection->reply("at once");
          connection->expect_reply();
          loop_->after(600ms, [peer = std::weak_ptr(connection)] {
            if (const auto there = peer.lock()) there->reply("done");
          });
        },
        150ms, 4);
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~Control() override {
    loop_->post([this] { loop_->stop(); });
    thread_.join();
  }

  os::Fd connect() { return *os::connect_unix(path_, 1000); }
  static int connect_to(int fd, const sockaddr_un& address) {
    return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  static std::int64_t in(std::chrono::nanoseconds time) {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec + time.count();
  }
  static Result<std::string> next_line(const os::Fd& fd, std::chrono::nanoseconds within) {
    std::string rest;
    return os::read_line(fd.get(), rest, 1000, in(within));
  }

  TempDir dir_{"control"};
  std::string path_ = dir_ / "sock";
  RefusalLog log_;
  std::unique_ptr<daemon::Loop> loop_;
  std::unique_ptr<daemon::ControlServer> server_;
  std::thread thread_;
};

TEST_F(Control, ASilentPeerIsDisconnected) {
  const os::Fd silent = connect();
  EXPECT_EQ(next_line(silent, 5s).error().code, Code::canceled);
}

TEST_F(Control, APeerThatWaitsForAReplyIsNotDisconnected) {
  const os::Fd waiting = connect();
  ASSERT_TRUE(os::send_all(waiting.get(), "work\n", in(1s)));
  EXPECT_EQ(next_line(waiting, 5s).value_or("hung up"), "done");
  EXPECT_EQ(next_line(waiting, 5s).error().code, Code::canceled);  // its time counts again
}

TEST_F(Control, IdlePeersMakeRoomForOneThatAsksAndBusyOnesDoNot) {
  const os::Fd busy = connect();
  ASSERT_TRUE(os::send_all(busy.get(), "work\n", in(1s)));
  std::vector<os::Fd> idle;
  for (int i = 0; i < 40; ++i) idle.push_back(connect());
  const os::Fd asks = connect();
  ASSERT_TRUE(os::send_all(asks.get(), "hello\n", in(1s)));
  EXPECT_EQ(next_line(asks, 5s).value_or("hung up"), "at once");
  EXPECT_EQ(next_line(busy, 5s).value_or("hung up"), "done");
}

TEST_F(Control, APeerOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  ASSERT_EQ(chmod(dir_.path().c_str(), 0755) + chmod(path_.c_str(), 0666), 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path_.size(), sizeof address.sun_path);
  path_.copy(address.sun_path, path_.size());
  const pid_t child = fork();
  if (child == 0) {
    char first = 0;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (setuid(65534) != 0) _exit(2);
    if (connect_to(fd, address) != 0) _exit(3);
    _exit(send(fd, "hello\n", 6, MSG_NOSIGNAL) == 6 && read(fd, &first, 1) == 1 ? 1 : 0);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_EQ(WIFEXITED(state) ? WEXITSTATUS(state) : -1, 0)
      << "1: it was answered; 2, 3: it could not connect";
  EXPECT_TRUE(wait_until([&] { return log_.refused.load(); }, 5s));
}

// Knows when a child has ended.
class EndLog final : public Log {
 public:
  std::atomic<bool> ended = false;

 private:
  void line(std::string_view text) override {
    if (text.find("child ended") != std::string_view::npos) ended = true;
  }
};

TEST(Children, AChildThatWritesTooMuchIsEnded) {
  EndLog log;
  auto loop = *daemon::Loop::create();
  auto children = std::make_unique<daemon::LoopChildren>(*loop, log, [] {});
  std::thread thread([&] { loop->run(); });
  os::Command command;
  command.executable = "/bin/sh";
  command.argv = {"sh", "-c", "l=$(head -c 100000 /dev/zero | tr '\\0' x); while echo $l; do :; done"};
  auto child = children->start(command);
  EXPECT_TRUE(wait_until([&] { return log.ended.load(); }, 30s));
  std::size_t bytes = 0;
  while (const auto line = child->receive()) bytes += line->size();
  EXPECT_LT(bytes, 64u << 20);
  EXPECT_EQ(child->ended().value_or("it goes on"), "the child wrote more than can be buffered");
  child.reset();
  loop->post([&] { loop->stop(); });
  thread.join();
}

}  // namespace
}  // namespace cairn::test
