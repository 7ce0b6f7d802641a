// The hook and the daemon: here the test is the daemon, so that it can be late, wrong or gone.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/json.h"
#include "hook_fixture.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/socket.h"
#include "support/wait.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

std::int64_t in_seconds(int seconds) {
  return os::RealClock().boot_ns() + seconds * 1'000'000'000LL;
}

// Holds the home's lock from the start, and serves the socket after `delay`: answers each request with
// `answer`.
class FakeDaemon {
 public:
  FakeDaemon(const hook::Home& home, std::string answer, std::chrono::milliseconds delay = 0ms)
      : home_(home), answer_(std::move(answer)), delay_(delay) {
    os::RealDisk disk;
    EXPECT_TRUE(os::make_dirs(disk, home.data).ok());
    lock_.emplace_back(os::FileLock::acquire(home.lock()).value());
    thread_ = std::jthread([this](std::stop_token stop) { serve(stop); });
    if (delay == 0ms) wait_until([this] { return listening_.load(); }, 10s);
  }
  ~FakeDaemon() { join(); }

  // What hooks said, once they are gone. Ends the daemon.
  const std::vector<std::string>& received() {
    join();
    return heard_;
  }

 private:
  void join() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  void serve(const std::stop_token& stop) {
    const auto begin = std::chrono::steady_clock::now();
    wait_until([&] { return stop.stop_requested() || std::chrono::steady_clock::now() - begin >= delay_; },
               delay_ + 1s);
    const auto listener = os::listen_unix(home_.socket());
    listening_ = true;
    for (;;) {
      pollfd p{listener->get(), POLLIN, 0};
      const bool waiting = poll(&p, 1, 10) > 0;
      if (!waiting && stop.stop_requested()) return;
      if (!waiting) continue;
      const os::Fd hook(accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
      std::string rest;
      for (bool first = true;; first = false) {
        auto line = os::read_line(hook.get(), rest, 4096, in_seconds(20));
        if (!line.ok()) break;
        heard_.push_back(std::move(*line));
        if (first && answer_.empty()) continue;  // keeps silent
        if (first && !os::send_all(hook.get(), answer_, in_seconds(20)).ok()) break;
        if (first && !answer_.ends_with('\n')) break;  // hangs up
      }
    }
  }

  hook::Home home_;
  std::string answer_;
  std::chrono::milliseconds delay_;
  std::vector<os::FileLock> lock_;
  std::vector<std::string> heard_;
  std::atomic<bool> listening_ = false;
  std::jthread thread_;
};

const std::string kContext =
    R"({"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"remember"}})"
    "\n";

TEST_F(HookTest, PrintsTheDaemonsAnswerAndConfirmsIt) {
  // More time than the product gives: a loaded machine must not decide this test.
  set_flags({.session_start_ms = 20'000, .user_prompt_submit_ms = 20'000});
  for (const char* event : {"SessionStart", "UserPromptSubmit"}) {
    FakeDaemon daemon(home_, kContext);
    const Outcome outcome = run(program({event}));
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, kContext);
    EXPECT_EQ(outcome.err, "");
    ASSERT_EQ(daemon.received().size(), 2u);
    const auto request = Json::parse(daemon.received()[0]);
    ASSERT_TRUE(request.ok()) << daemon.received()[0];
    EXPECT_EQ((*request)["v"].as_int(), 1);
    EXPECT_EQ((*request)["op"].as_string(), "answer");
    EXPECT_EQ((*request)["args"]["event"].as_string(), names("new").back());
    EXPECT_GT((*request)["args"]["ms"].as_int(), 0);
    EXPECT_LT((*request)["args"]["ms"].as_int(), 20'000);
    EXPECT_EQ(daemon.received()[1] + "\n", hook::kGiven);
  }
}

TEST_F(HookTest, AsksForTheEventNamedInThePayloadWhenItHasNoArgument) {
  set_flags({.session_start_ms = 20'000});
  FakeDaemon daemon(home_, kContext);
  EXPECT_EQ(run(program({}, R"({"session_id":"s","hook_event_name":"SessionStart"})")).out, kContext);
  EXPECT_EQ(hook::Envelope::decode(only_event())->envelope.event, "");
  expect_fixed(run(program({}, R"({"session_id":"s","hook_event_name":"PostToolUse"})")));
}

TEST_F(HookTest, AsksNothingForOtherEvents) {
  FakeDaemon daemon(home_, kContext);
  for (const char* event : {"PreToolUse", "PostToolUse", "Stop", "SessionEnd", "Unknown"})
    expect_fixed(run(program({event})));
  EXPECT_TRUE(daemon.received().empty());
}

TEST_F(HookTest, AsksForHelpOnlyWhereTheFlagsSaySo) {
  const std::string text = "Keep:\n- the rule\n";
  const std::string reply = hook::encode_text_reply(text) + "\n";
  {
    FakeDaemon daemon(home_, kContext);
    for (const char* event : {"PostToolUseFailure", "SubagentStart"}) expect_fixed(run(program({event})));
    EXPECT_TRUE(daemon.received().empty()) << "off by default";
  }
  set_flags({.user_prompt_submit_ms = 20'000, .help_failure = true, .help_subagent = true});
  for (const char* event : {"PostToolUseFailure", "SubagentStart"}) {
    FakeDaemon daemon(home_, kContext);
    EXPECT_EQ(run(program({event})).out, kContext);
    EXPECT_EQ(daemon.received().size(), 2u) << "asked and confirmed";
  }
  {
    FakeDaemon daemon(home_, reply);
    EXPECT_EQ(run(program({"PreCompact"})).out, text + "\n");
    EXPECT_EQ(daemon.received().size(), 2u) << "on by default";
  }
  for (const std::string& nothing :
       {std::string("{\"continue\": true}\n"), std::string("=\n"), std::string("x\n")}) {
    FakeDaemon daemon(home_, nothing);
    const Outcome outcome = run(program({"PreCompact"}));
    EXPECT_EQ(outcome.out, "") << "only text becomes a part of the host's instructions";
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(daemon.received().size(), 1u);
  }
  set_flags({.user_prompt_submit_ms = 20'000, .help_compaction = false});
  FakeDaemon daemon(home_, reply);
  EXPECT_EQ(run(program({"PreCompact"})).out, "");
  EXPECT_TRUE(daemon.received().empty());
}

TEST_F(HookTest, StopsWaitingForASilentDaemonAtItsDeadline) {
  set_flags({.session_start_ms = 300, .user_prompt_submit_ms = 200});
  FakeDaemon daemon(home_, "");
  for (const char* event : {"SessionStart", "UserPromptSubmit"}) {
    const Outcome outcome = run(program({event}));
    expect_fixed(outcome);
    EXPECT_GE(outcome.elapsed, 190ms);
    EXPECT_LT(outcome.elapsed, 5s);
  }
  EXPECT_EQ(daemon.received().size(), 2u) << "no confirmation of what was not given";
}

TEST_F(HookTest, GivesTheFixedAnswerWhenTheReplyIsInvalid) {
  set_flags({.session_start_ms = 20'000});
  for (const std::string& answer :
       {std::string("nonsense\n"), std::string("\n"), std::string("{\"torn\":"), std::string("{\"no end\"\n"),
        "{" + std::string(300u << 10, ' ') + "}\n"}) {
    FakeDaemon daemon(home_, answer);
    expect_fixed(run(program({"SessionStart"})));
    EXPECT_EQ(daemon.received().size(), 1u);
  }
  EXPECT_EQ(names("new").size(), 5u);
}

TEST_F(HookTest, PrintsALongAnswerWhole) {
  set_flags({.session_start_ms = 20'000});
  const std::string answer = "{\"text\":\"" + std::string(200u << 10, 'x') + "\"}\n";
  FakeDaemon daemon(home_, answer);
  EXPECT_TRUE(run(program({"SessionStart"})).out == answer);
}

TEST_F(HookTest, GivesUpOnAHostThatDoesNotReadALongAnswer) {
  set_flags({.session_start_ms = 20'000});
  FakeDaemon daemon(home_, "{\"text\":\"" + std::string(200u << 10, 'x') + "\"}\n");
  // The pipe has a reader that never reads.
  const Outcome outcome = run(shell("{ \"$HOOK\" SessionStart; echo $? > " + (dir_ / "code") +
                                    "; } | until [ -e " + (dir_ / "code") + " ]; do sleep 0.1; done"));
  EXPECT_TRUE(outcome.ok()) << outcome.describe();
  EXPECT_EQ(read_text(dir_ / "code"), "0\n");
  EXPECT_LT(outcome.elapsed, 15s);
  EXPECT_EQ(daemon.received().size(), 1u) << "no confirmation of what was not given";
  EXPECT_EQ(names("new").size(), 1u);
}

TEST_F(HookTest, WaitsAtSessionStartForADaemonThatIsStarting) {
  set_flags({.session_start_ms = 20'000});
  FakeDaemon daemon(home_, kContext, 300ms);
  const Outcome outcome = run(program({"SessionStart"}));
  EXPECT_EQ(outcome.out, kContext);
  EXPECT_GE(outcome.elapsed, 200ms);
}

TEST_F(HookTest, StartsTheDaemonAtSessionStartAndWaitsForIt) {
  provide_cairn("echo x >> \"$CAIRN_HOME/starts\"");
  set_flags({.session_start_ms = 20'000});
  std::string out;
  {
    std::jthread host([&] { out = run(program({"SessionStart"})).out; });
    ASSERT_TRUE(wait_until([&] { return exists(home_.data + "/starts"); }, 15s));
    FakeDaemon daemon(home_, kContext);
    host.join();
  }
  EXPECT_EQ(out, kContext);
}

TEST_F(HookTest, GivesUpEarlyOnADaemonThatNeverTakesItsLock) {
  provide_cairn("exit 1");
  set_flags({.session_start_ms = 3000});
  // The second finds that an attempt was made, and waits no longer than the first.
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = run(program({"SessionStart"}));
    expect_fixed(outcome);
    EXPECT_GE(outcome.elapsed, 1400ms);
    EXPECT_LT(outcome.elapsed, 2900ms);
  }
  EXPECT_EQ(names("new").size(), 2u);
}

TEST_F(HookTest, SaysWhyNoDaemonCanStartAndDoesNotWaitForOne) {
  provide_cairn("printf 'why the \"key\" is bad\\n' >> \"$CAIRN_HOME/daemon.start\"; exit 1");
  set_flags({.session_start_ms = 60'000});
  for (int i = 0; i < 2; ++i) {  // the first starts it; the second finds its reason
    const Outcome outcome = run(program({"SessionStart"}));
    expect_broken(outcome, "the daemon cannot start: the \"key\" is bad");
    EXPECT_LT(outcome.elapsed, 20s);
  }
  expect_fixed(run(program({"UserPromptSubmit"})));
}

TEST_F(HookTest, DoesNotWaitWhenThereIsNoDaemonToCome) {
  set_flags({.session_start_ms = 60'000, .user_prompt_submit_ms = 60'000});
  expect_broken(run(program({"SessionStart"})), "there is no `cairn` beside ");
  provide_cairn("exit 1");
  expect_fixed(run(program({"UserPromptSubmit"})));
  EXPECT_TRUE(exists(home_.start())) << "a prompt starts the daemon for the next one";
}

TEST_F(HookTest, RefusesASocketOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a socket away";
  set_flags({.session_start_ms = 20'000});
  FakeDaemon daemon(home_, kContext);
  ASSERT_EQ(chown(home_.socket().c_str(), 65534, 65534), 0);
  expect_fixed(run(program({"SessionStart"})));
  EXPECT_TRUE(daemon.received().empty());
}

TEST_F(HookTest, ReachesADaemonWhoseSocketHasALongPath) {
  const hook::Home deep = hook::Home::at(dir_ / (std::string(100, 'a') + "/" + std::string(60, 'b')));
  write_file(deep.flags(), hook::Flags{.session_start_ms = 20'000}.encode());
  FakeDaemon daemon(deep, kContext);
  Program p = program({"SessionStart"});
  p.env[0] = "CAIRN_HOME=" + deep.data;
  EXPECT_EQ(run(p).out, kContext);
}

}  // namespace
}  // namespace cairn::test
