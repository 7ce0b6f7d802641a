#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "os/crash.h"
#include "support/temp_dir.h"

namespace cairn::os {
namespace {

class CrashMarkTest : public testing::Test {
 protected:
  // The files in the directory after a process has done `what` under its mark and has ended; 0: by itself.
  std::string left_by(const std::function<void()>& what) {
    test::write_file(dir_ / "file.1", "");
    const pid_t child = fork();
    if (child == 0) {
      const rlimit none{0, 0};
      setrlimit(RLIMIT_CORE, &none);
      for (const int number : {SIGSEGV, SIGABRT, SIGFPE}) signal(number, SIG_DFL);  // not a sanitizer's
      watch_for_crashes();
      const CrashMark mark(dir_ / "file.1", dir_ / "file.crashed");
      what();
      _exit(0);
    }
    int state = 0;
    waitpid(child, &state, 0);
    ended_by_ = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    const bool crashed = unlink((dir_ / "file.crashed").c_str()) == 0;
    return crashed ? "crashed" : "1";
  }

  test::TempDir dir_{"crash"};
  int ended_by_ = 0;
};

int overflow(volatile char* above) {
  volatile char room[4096];
  room[0] = above ? above[0] : 1;
  if (room[0] == 2) return 0;
  return overflow(room) + room[0];
}

TEST_F(CrashMarkTest, OfTheThreadWithTheMarkIsRecordedInTheFilesName) {
  EXPECT_EQ(left_by([] { std::abort(); }), "crashed");
  EXPECT_EQ(ended_by_, SIGABRT);
  EXPECT_EQ(left_by([] { *reinterpret_cast<volatile int*>(16) = 1; }), "crashed");
  EXPECT_EQ(ended_by_, SIGSEGV);
  EXPECT_EQ(left_by([] { overflow(nullptr); }), "crashed") << "a stack that ran over";
  EXPECT_EQ(ended_by_, SIGSEGV);
}

TEST_F(CrashMarkTest, ACrashOfAnotherThreadOrAKillIsNotRecorded) {
  EXPECT_EQ(left_by([] { std::thread([] { std::abort(); }).join(); }), "1");
  EXPECT_EQ(ended_by_, SIGABRT);
  for (const int number : {SIGKILL, SIGSEGV, SIGABRT, SIGTERM}) {
    const pid_t parent = getpid();
    EXPECT_EQ(left_by([&] {
                const pid_t me = getpid();
                if (fork() == 0) _exit(kill(me, number));
                for (;;) pause();
              }),
              "1")
        << number << " sent to a child of " << parent;
    EXPECT_EQ(ended_by_, number);
  }
}

TEST_F(CrashMarkTest, ACrashAfterTheMarkIsRemovedIsNotRecorded) {
  EXPECT_EQ(left_by([&] {
              { const CrashMark inner(dir_ / "file.1", dir_ / "file.crashed"); }
              std::abort();
            }),
            "1");
  EXPECT_EQ(left_by([] {}), "1");
  EXPECT_EQ(ended_by_, 0);
}

}  // namespace
}  // namespace cairn::os
