// What happens to the host, and to its events, when the daemon is dead, late, stopped or buried under a
// backlog.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <set>

#include "base/text.h"
#include "hook/control.h"
#include "host/backlog.h"
#include "host/claude.h"
#include "support/wait.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

// Continues a stopped process whatever happens in the test.
class Stopped {
 public:
  explicit Stopped(pid_t pid) : pid_(pid) { ::kill(pid_, SIGSTOP); }
  ~Stopped() { resume(); }
  void resume() { ::kill(pid_, SIGCONT); }

 private:
  pid_t pid_;
};

// The pipes that a process has open, by their kernel names.
std::set<std::string> pipes_of(pid_t pid) {
  std::set<std::string> found;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (target.rfind("pipe:", 0) == 0) found.insert(target);
  }
  return found;
}

std::string user_line(std::string_view text) {
  return Json::object({{"type", "user"}, {"message", Json::object({{"role", "user"}, {"content", text}})}})
             .dump() +
         "\n";
}

class Resilience : public HostTest {
 protected:
  void one_session_before() {
    machine.script("before", {bash("echo early > before.txt"), say("Done before.")});
    expect_valid_answer(machine.prompt("before", "lay the first stone"));
  }
};

TEST_F(Resilience, ADaemonKilledBetweenTwoHooksLosesNothing) {
  Json late = bash("echo two > two.txt");
  late.set("delay_ms", 800);
  machine.script("work", {bash("echo one > one.txt"), late, say("Both written.")});
  Background host(machine.prompt_program("work", "write one and two"));
  host.close_input();
  ASSERT_TRUE(machine.wait_for_requests("work", 2));
  machine.kill_daemon();
  const auto end = host.wait(60s);
  ASSERT_TRUE(end);
  const Session session = HostMachine::read_session(*end);
  EXPECT_EQ(session.result, "Both written.") << end->describe();
  expect_valid_answer(session);

  const std::int64_t delivered = machine.process_and_check();
  // The host reports every hook but SessionEnd.
  EXPECT_EQ(delivered, static_cast<std::int64_t>(session.hooks.size()) + 1);
  const Json shown = machine.cairn_json({"sessions", "show", session.id});
  ASSERT_EQ(shown["turns"].items().size(), 1u) << shown.dump(1);
  const std::string summary(shown["turns"].items()[0]["summary"].as_string());
  const std::string record_text = machine.cairn_json({"show", summary}).dump();
  EXPECT_NE(record_text.find("one.txt"), std::string::npos) << record_text;
  EXPECT_NE(record_text.find("two.txt"), std::string::npos) << record_text;
  EXPECT_EQ(machine.daemons().size(), 1u);
}

TEST_F(Resilience, ABacklogOfTenThousandEventsDoesNotDelayTheSession) {
  machine.cairn({"daemon", "stop"});
  ASSERT_TRUE(machine.daemons().empty());
  constexpr std::size_t kBacklog = 10'000;
  ASSERT_TRUE(fill_inbox(machine.cairn_home(), machine.project(), kBacklog));

  machine.script("now", {say("Ready.")});
  const Session session = machine.prompt("now", "What now?");
  EXPECT_EQ(session.result, "Ready.") << session.outcome.describe();
  expect_valid_answer(session);
  // The host's own start and end take up to 3 s on two cores, SessionStart's deadline is 3 s, the prompt's
  // 0.2 s.
  EXPECT_LT(session.outcome.elapsed, 7s);

  const std::int64_t own = static_cast<std::int64_t>(session.hooks.size()) + 1;
  EXPECT_EQ(machine.process_and_check(), static_cast<std::int64_t>(kBacklog) + own);
  machine.script("later", {say("Fine.")});
  machine.prompt("later", "And now?");
  const auto requests = machine.requests("later");
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_NE(requests[0].injected().find("count to ten thousand"), std::string::npos)
      << requests[0].injected();
}

TEST_F(Resilience, AStoppedDaemonCostsTheDeadlinesAndTheContextComesWithTheNextPrompt) {
  one_session_before();
  machine.script("now", {bash("echo during > during.txt"), say("First."), say("Second.")});
  ASSERT_EQ(machine.daemons().size(), 1u);
  Stopped daemon(machine.daemons()[0]);

  Program program = machine.prompt_program("now", "", {"--input-format", "stream-json"});
  program.argv.pop_back();
  const auto begin = std::chrono::steady_clock::now();
  Background host(program);
  host.write_input(user_line("go on without memory"));
  ASSERT_TRUE(wait_until([&] { return host.out().find("\"type\":\"result\"") != std::string::npos; }, 30s))
      << host.out();
  // 3 s for SessionStart, 0.2 s for the prompt, the host's own start; the other hooks ask nothing.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 7s);
  const Session so_far = HostMachine::read_session({.exit_code = 0, .out = host.out()});
  EXPECT_EQ(so_far.result, "First.");
  EXPECT_GE(so_far.hooks.size(), 5u);
  for (const HookReply& hook : so_far.hooks) EXPECT_EQ(trim(hook.out), hook::kFixedAnswer) << hook.event;

  daemon.resume();
  ASSERT_TRUE(wait_until([&] { return machine.cairn_json({"status"})["inbox"].as_int(-1) == 0; }, 20s));
  host.write_input(user_line("and now with memory"));
  host.close_input();
  const auto end = host.wait(30s);
  ASSERT_TRUE(end);
  expect_valid_answer(HostMachine::read_session(*end));
  const auto requests = machine.requests("now");
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].injected(), "");
  EXPECT_NE(requests[2].injected().find("lay the first stone"), std::string::npos) << requests[2].text;
  machine.process_and_check();
}

TEST_F(Resilience, TheDaemonHoldsNoPipeOfTheHost) {
  Json hang = say("");
  hang.set("hang", true);
  machine.script("hang", {bash("true"), hang});
  Background host(machine.prompt_program("hang", "wait here"));
  host.close_input();
  ASSERT_TRUE(machine.wait_for_requests("hang", 2));
  ASSERT_EQ(machine.daemons().size(), 1u);
  const pid_t daemon = machine.daemons()[0];
  std::error_code error;
  for (const char* fd : {"0", "1", "2"})
    EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(daemon) + "/fd/" + fd, error),
              "/dev/null")
        << fd;
  const std::set<std::string> own = pipes_of(daemon);
  for (pid_t other : processes_with_env("CAIRN_HOME=" + machine.cairn_home())) {
    if (other == daemon) continue;
    for (const std::string& pipe : pipes_of(other))
      EXPECT_FALSE(own.contains(pipe)) << pipe << " of process " << other;
  }
  host.signal(SIGTERM);
  ASSERT_TRUE(host.wait(5s));
  EXPECT_TRUE(is_running(daemon)) << "the daemon outlives the host";
}

}  // namespace
}  // namespace cairn::test
