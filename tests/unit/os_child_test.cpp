// What a provider's child process can do to the machine: nothing that its command does not allow.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/child.h"
#include "os/owner.h"
#include "os/process.h"
#include "support/temp_dir.h"

namespace cairn::os {
namespace {

using test::exists;
using test::read_text;
using test::TempDir;

class ChildTest : public testing::Test {
 protected:
  ChildTest() {
    for (const char* name : {"own", "other", "parent"}) ::mkdir((dir_ / name).c_str(), 0700);
    test::write_file(dir_ / "settings.json", "old");
  }

  // Runs a shell script to its end; gives back what it printed.
  std::string run(const std::string& script, Command command = {}) {
    command.executable = "/bin/sh";
    command.argv = {"sh", "-c", script};
    auto child = spawn_child(command);
    if (!child) return "not started: " + child.error().message;
    std::string out;
    pollfd ready{child->socket.get(), POLLIN, 0};
    char bytes[4096];
    for (ssize_t got = 0; ::poll(&ready, 1, 10'000) == 1 && (got = read(ready.fd, bytes, sizeof bytes)) > 0;)
      out.append(bytes, static_cast<std::size_t>(got));
    reap(child->pid, true);
    return out;
  }
  Command confined() {
    Command command;
    command.cwd = dir_ / "own";
    command.may_write = {{{dir_ / "own", Writable::What::tree},
                          {dir_ / "settings.json", Writable::What::file},
                          {dir_ / "parent", Writable::What::directories},
                          {dir_ / "missing", Writable::What::tree}}};
    return command;
  }

  TempDir dir_{"child"};
};

TEST_F(ChildTest, WritesOnlyWhereItsCommandAllows) {
  if (landlock_version() == 0) GTEST_SKIP() << "SKIP: the kernel has no Landlock";
  const std::string out =
      run("try() { sh -c \"$1\" 2>/dev/null && echo yes $2 || echo no $2; }\n"
          "try 'echo x > file' own-file\n"
          "try 'mkdir -p a/b && echo x > a/b/c && mv a/b/c d && rm d' own-tree\n"
          "try 'echo new > ../settings.json' settings\n"
          "try 'echo x > ../other/file' other-file\n"
          "try 'echo x > ../settings.tmp' beside-settings\n"
          "try 'mkdir ../parent/lock && rmdir ../parent/lock' lock\n"
          "try 'echo x > ../parent/file' parent-file\n"
          "try 'rm ../settings.json' remove-settings\n"
          "try 'mv file ../other/file' move-out\n"
          "try 'echo x > /tmp/cairn-child-test' tmp\n"
          "try 'echo x > /dev/null' null\n"
          "try 'cat /etc/passwd >/dev/null' read\n",
          confined());
  EXPECT_EQ(out,
            "yes own-file\nyes own-tree\nyes settings\nno other-file\nno beside-settings\nyes lock\n"
            "no parent-file\nno remove-settings\nno move-out\nno tmp\nyes null\nyes read\n");
  EXPECT_EQ(read_text(dir_ / "settings.json"), "new\n");
  EXPECT_FALSE(exists(dir_ / "other/file"));
}

TEST_F(ChildTest, CannotSignalAProcessOutside) {
  if (landlock_version() < 6) GTEST_SKIP() << "SKIP: the kernel's Landlock does not know signals";
  EXPECT_EQ(run("kill -0 $PPID 2>/dev/null && echo yes || echo no", confined()), "no\n");
}

TEST_F(ChildTest, IsNotRestrictedInWritingWithoutSuchAList) {
  EXPECT_EQ(run("echo x > " + dir_ / "other/file" + " && echo yes"), "yes\n");
}

TEST_F(ChildTest, HasLimitsAndCanGainNoPrivileges) {
  Command command;
  command.limits.cpu_seconds = 77;
  command.limits.open_files = 99;
  const std::string out =
      run("grep -E 'NoNewPrivs' /proc/self/status; ulimit -t; ulimit -n; ulimit -c; nice", command);
  EXPECT_NE(out.find("NoNewPrivs:\t1\n77\n99\n0\n"), std::string::npos) << out;
  EXPECT_EQ(run("dd if=/dev/zero of=" + dir_ / "own/big" + " bs=1M count=3 2>/dev/null; stat -c %s " +
                    dir_ / "own/big",
                [] {
                  Command small;
                  small.limits.file_bytes = 1u << 20;
                  return small;
                }()),
            "1048576\n");
}

TEST(Secrets, AFileThatOthersCanReadIsRefusedAndTheMessageSaysWhatToDo) {
  const TempDir dir("secret");
  const std::string file = dir / "key";
  test::write_file(file, "word");
  ::chmod(file.c_str(), 0604);
  const auto open = read_secret(file, 100);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, Code::denied);
  EXPECT_NE(open.error().message.find("chmod 600"), std::string::npos);
  ::chmod(file.c_str(), 0600);
  EXPECT_EQ(read_secret(file, 100).value_or(""), "word");
  EXPECT_EQ(read_secret(file, 3).error().code, Code::invalid);
  EXPECT_EQ(read_secret(dir.path(), 100).error().code, Code::denied);
  EXPECT_EQ(read_secret(dir / "none", 100).error().code, Code::not_found);
}

}  // namespace
}  // namespace cairn::os
