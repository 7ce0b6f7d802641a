// What the machine around cairn may try, and what cairn must leave alone.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>

#include "base/ids.h"
#include "home_fixture.h"

namespace cairn::test {
namespace {

class SecurityTest : public HomeTest {
 protected:
  // Every file below `root` with its bytes and its time.
  static std::map<std::string, std::string> tree(const std::string& root) {
    std::map<std::string, std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      struct stat st {};
      lstat(entry.path().c_str(), &st);
      out[entry.path().string()] = std::to_string(st.st_mode) + " " + std::to_string(st.st_mtim.tv_sec) +
                                   "." + std::to_string(st.st_mtim.tv_nsec) + " " +
                                   (entry.is_regular_file() ? read_text(entry.path().string()) : "");
    }
    return out;
  }
  Outcome shell(const std::string& script) {
    Program p = program("cairn", {});
    p.argv = {"/bin/sh", "-c", script};
    p.env.push_back("CAIRN=" + bin_ + "/cairn");
    p.env.push_back("HOOK=" + bin_ + "/cairn-hook");
    return run(p);
  }
};

TEST_F(SecurityTest, AnOpenUmaskOpensNothing) {
  const Outcome outcome = shell(
      "umask 0; printf '%s' '" + payload("s1", Json::object({{"prompt", "hello"}})) +
      "' | \"$HOOK\" UserPromptSubmit && \"$CAIRN\" process --wait && \"$CAIRN\" config set log.level info");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.describe();
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home_.data)) {
    struct stat st {};
    ASSERT_EQ(lstat(entry.path().c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 0777, S_ISDIR(st.st_mode) ? 0700u : 0600u) << entry.path();
    ++seen;
  }
  EXPECT_GT(seen, 8u);
}

TEST_F(SecurityTest, AStrangeFileInTheInboxBlocksNothingAndOthersAreNotTouched) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  const std::string box = home_.inbox() + "/new/", outside = dir_ / "outside.txt", twin = dir_ / "twin.txt";
  write_file(outside, "precious quokka");
  write_file(twin, "twin");
  ASSERT_EQ(mkfifo((box + random_hex(16)).c_str(), 0600), 0);
  std::filesystem::create_directory(box + random_hex(16));
  std::filesystem::create_directory(box + "a directory");
  write_file(box + random_hex(16), "strange, password=kX9-vQ27-zebra\n");
  const std::vector<std::string> others = {"a b", "-rf", "x\ny", "\x1b[2J", "...", std::string(255, 'n')};
  for (const std::string& name : others) write_file(box + name, "not an event");
  for (const std::string& name : {random_hex(16), std::string("link")}) {
    std::filesystem::create_symlink(outside, box + name);
    std::filesystem::create_hard_link(twin, box + name + "x");
  }
  std::filesystem::create_symlink("/dev/zero", box + random_hex(16));
  play_session("s1", "a prompt behind all that", "a.txt");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  EXPECT_EQ(json({"sessions", "list", "--all"})["sessions"].items().size(), 1u);
  EXPECT_NE(cairn({"context"}).out.find("a prompt behind all that"), std::string::npos);
  EXPECT_EQ(json({"status"})["inbox"].as_int(), 0);
  // A pipe, a directory, a text and two links have the name of an event.
  EXPECT_EQ(json({"status"})["ledger"]["counted"].dump(), R"({"bad":5})");
  EXPECT_TRUE(exists(box + "a directory"));
  EXPECT_EQ(read_text(outside), "precious quokka");
  EXPECT_EQ(read_text(twin), "twin");
  EXPECT_EQ(log().find('\x1b'), std::string::npos);
  std::filesystem::remove(box + "link");  // it was left alone, and tree() would follow it
  std::string all;
  // A file may be moved while the directories are read.
  EXPECT_TRUE(wait_until(
      [&] {
        all.clear();
        for (const auto& [path, text] : tree(home_.data)) all += path + "\n" + text + "\n";
        return all.find("strange, password=") != std::string::npos;
      },
      5s))
      << all;
  EXPECT_EQ(all.find("quokka"), std::string::npos) << "a link was followed";
  EXPECT_EQ(all.find("zebra"), std::string::npos) << "what was put aside was not cleaned";
  for (const std::string& name : others) EXPECT_EQ(read_text(box + name), "not an event") << "left alone";
}

TEST_F(SecurityTest, TheRepositoryIsTheSameAfterManySessions) {
  write_file(project_ + "/.git/HEAD", "ref: refs/heads/main\n");
  write_file(project_ + "/.git/config", "[core]\n");
  write_file(project_ + "/src/main.c", "int main(void) { return 0; }\n");
  const auto before = tree(project_);
  const int sessions = std::getenv("CAIRN_FULL") ? 1000 : 20;
  for (int i = 0; i < sessions; ++i)
    play_session("s" + std::to_string(i), "prompt " + std::to_string(i), "src/main.c");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  EXPECT_EQ(json({"status"})["ledger"]["gap"].as_int(), 0);
  EXPECT_EQ(tree(project_), before);
}

// From here on this process and all that it starts end by SIGSYS when they ask for a socket that is not
// Unix's.
bool forbid_networks() {
  constexpr unsigned kFamily = offsetof(seccomp_data, args);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFamily),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(code), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

// How a child ends that does `body` without networks, in a network namespace of its own where that is
// allowed.
int run_alone(const std::function<void()>& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    // Where neither is allowed the filter alone has to do.
    [[maybe_unused]] const bool alone =
        unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
    if (!forbid_networks()) _exit(77);
    body();
    _exit(126);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

TEST_F(SecurityTest, WorksWhereThereIsNoNetwork) {
  const int asks = run_alone([] { socket(AF_INET, SOCK_STREAM, 0); });
  if (WIFEXITED(asks) && WEXITSTATUS(asks) == 77) GTEST_SKIP() << "SKIP: no filter of system calls here";
  ASSERT_TRUE(WIFSIGNALED(asks) && WTERMSIG(asks) == SIGSYS) << "the control: who asks is ended";
  const Program demo = program("cairn", {"demo", "--home", dir_ / "demo", "--no-color"});
  const int done = run_alone([&] {
    std::vector<char*> argv, env;
    for (const std::string& text : demo.argv) argv.push_back(const_cast<char*>(text.c_str()));
    for (const std::string& text : demo.env) env.push_back(const_cast<char*>(text.c_str()));
    argv.push_back(nullptr), env.push_back(nullptr);
    const int out = open((dir_ / "out").c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(out, 1);
    dup2(out, 2);
    execve(argv[0], argv.data(), env.data());
  });
  const std::string said = read_text(dir_ / "out");
  EXPECT_TRUE(WIFEXITED(done) && WEXITSTATUS(done) == 0) << said;
  EXPECT_NE(said.find("gap 0"), std::string::npos) << said;
  EXPECT_NE(read_text(dir_ / "demo/logs/daemon.log").find("daemon serves"), std::string::npos);
  shell("CAIRN_HOME=" + (dir_ / "demo") + " \"$CAIRN\" daemon stop");
}

TEST_F(SecurityTest, TheDaemonGetsOnlyWhatItNeedsOfTheEnvironment) {
  const Outcome outcome = shell(
      "HUSH_TOKEN=x CLAUDE_CODE_SESSION_ID=y ANTHROPIC_CUSTOM=z; export HUSH_TOKEN CLAUDE_CODE_SESSION_ID; "
      "printf '%s' '" +
      payload("s1", Json::object({{"source", "startup"}})) + "' | \"$HOOK\" SessionStart");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.describe();
  ASSERT_TRUE(wait_until([this] { return daemons().size() == 1; }, 10s));
  const std::string environment = read_text("/proc/" + std::to_string(daemons()[0]) + "/environ");
  EXPECT_NE(environment.find("CAIRN_HOME="), std::string::npos);
  EXPECT_EQ(environment.find("HUSH_TOKEN"), std::string::npos);
  EXPECT_EQ(environment.find("CLAUDE_CODE_SESSION_ID"), std::string::npos);
}

TEST_F(SecurityTest, CaptureOffForAProjectKeepsItOutAndOnLetsItInAgain) {
  ASSERT_EQ(cairn({"capture", "off", "--project", project_}).exit_code, 0);
  EXPECT_FALSE(json({"capture", "status"})["captured"].as_bool());
  play_session("s1", "a hushed prompt", "a.txt");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  EXPECT_EQ(json({"sessions", "list", "--all"})["sessions"].items().size(), 0u);
  ASSERT_EQ(cairn({"capture", "on", "--project", project_}).exit_code, 0);
  play_session("s2", "a spoken prompt", "a.txt");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  EXPECT_EQ(json({"sessions", "list", "--all"})["sessions"].items().size(), 1u);
  const Outcome scan = cairn({"scan"});
  EXPECT_EQ(scan.exit_code, 0) << scan.describe();
}

TEST_F(SecurityTest, PolicySaysWhatWouldHappenAndShowsNoSecret) {
  const std::string secret = "gh" + std::string("p_") + "aB3" + random_hex(17);
  write_file(dir_ / "event.json", Json::object({{"hook_event_name", "PostToolUse"},
                                                {"session_id", "s"},
                                                {"cwd", project_},
                                                {"tool_name", "Bash"},
                                                {"tool_input", Json::object({{"command", "echo " + secret}})},
                                                {"tool_response", Json::object({{"stdout", "ok"}})}})
                                      .dump());
  const Outcome outcome = cairn({"policy", "explain", dir_ / "event.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
  EXPECT_NE(outcome.out.find("github-token"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("stored, 1 secret removed"), std::string::npos) << outcome.out;
  write_file(dir_ / "sample.txt", "API_KEY=changeme\n");
  const Outcome sample = cairn({"policy", "explain", dir_ / "sample.txt"});
  EXPECT_NE(sample.out.find("looks like a placeholder: kept"), std::string::npos) << sample.out;
  EXPECT_EQ(outcome.out.find(secret), std::string::npos);
  ASSERT_EQ(cairn({"config", "set", "capture.skip_tools", "Bash"}).exit_code, 0);
  EXPECT_EQ(json({"policy", "explain", dir_ / "event.json"})["reason"].as_string(),
            "capture.skip_tools \"Bash\"");
}

TEST_F(SecurityTest, PolicyReadsAFileAsAToolWould) {
  write_file(project_ + "/.env", "PORT=8080\nHOUSE=kE9zRt4mQ2\n");
  const Json env = json({"policy", "explain", project_ + "/.env"});
  EXPECT_EQ(env["as"].as_string(), ".env file");
  ASSERT_EQ(env["secrets"].items().size(), 1u) << env.dump(1);
  EXPECT_EQ(env["secrets"].items()[0]["line"].as_int(), 2);
  write_file(project_ + "/plain.txt", "HOUSE=kE9zRt4mQ2\n");
  EXPECT_EQ(json({"policy", "explain", project_ + "/plain.txt"})["secrets"].items().size(), 0u);
  ASSERT_EQ(cairn({"config", "set", "capture.exclude", "**/.env"}).exit_code, 0);
  const Json excluded = json({"policy", "explain", project_ + "/.env"});
  EXPECT_EQ(excluded["outcome"].as_string(), "skipped");
  EXPECT_EQ(excluded["reason"].as_string(), "capture.exclude \"**/.env\"");
}

}  // namespace
}  // namespace cairn::test
