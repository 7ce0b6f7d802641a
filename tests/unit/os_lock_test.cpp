#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "os/lock.h"
#include "support/temp_dir.h"

namespace cairn::os {
namespace {

TEST(FileLock, IsHeldByOneAtATime) {
  const test::TempDir dir;
  const std::string path = dir / "lock";
  EXPECT_FALSE(FileLock::is_held(path));
  {
    auto lock = FileLock::acquire(path);
    ASSERT_TRUE(lock.ok());
    EXPECT_TRUE(FileLock::is_held(path));
    EXPECT_EQ(FileLock::acquire(path).error().code, Code::busy);
    const FileLock moved = std::move(lock).value();
    EXPECT_TRUE(FileLock::is_held(path));
  }
  EXPECT_FALSE(FileLock::is_held(path));
  EXPECT_TRUE(FileLock::acquire(path).ok());
}

TEST(FileLock, IsReleasedWhenAnotherIsMovedOverIt) {
  const test::TempDir dir;
  FileLock one = FileLock::acquire(dir / "one").value();
  FileLock two = FileLock::acquire(dir / "two").value();
  one = std::move(two);
  EXPECT_FALSE(FileLock::is_held(dir / "one"));
  EXPECT_TRUE(FileLock::is_held(dir / "two"));
}

TEST(FileLock, IsGoneWithItsHolderHoweverThatDies) {
  const test::TempDir dir;
  const std::string path = dir / "lock";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const auto lock = FileLock::acquire(path);
    if (write(ready[1], lock.ok() ? "y" : "n", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_TRUE(FileLock::is_held(path));
  EXPECT_EQ(FileLock::acquire(path).error().code, Code::busy);
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  EXPECT_FALSE(FileLock::is_held(path));
  close(ready[0]);
  close(ready[1]);
}

TEST(FileLock, GuardsTheFileOfThatNameNotARemovedOne) {
  const test::TempDir dir;
  const std::string path = dir / "lock";
  const FileLock old = FileLock::acquire(path).value();
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_FALSE(FileLock::is_held(path));
  const auto fresh = FileLock::acquire(path);
  ASSERT_TRUE(fresh.ok());
  EXPECT_TRUE(FileLock::is_held(path));
}

TEST(FileLock, NotesReplaceEachOther) {
  const test::TempDir dir;
  FileLock lock = FileLock::acquire(dir / "lock").value();
  lock.note("a long first note\n");
  lock.note("12\n");
  EXPECT_EQ(test::read_text(dir / "lock"), "12\n");
}

TEST(FileLock, SaysWhyItCannotBeTaken) {
  const test::TempDir dir;
  EXPECT_EQ(FileLock::acquire(dir / "none/lock").error().code, Code::not_found);
}

}  // namespace
}  // namespace cairn::os
