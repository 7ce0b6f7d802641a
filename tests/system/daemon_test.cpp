// The daemon's life with the real programs: start, stop, death, races, upgrades, idleness.
#include <sys/stat.h>

#include <filesystem>
#include <random>
#include <thread>

#include "hook/inbox.h"
#include "os/clock.h"
#include "os/socket.h"
#include "system/home_fixture.h"

namespace cairn::test {

class DaemonTest : public HomeTest {
 protected:
  os::RealDisk disk_;
  pid_t start() {
    EXPECT_EQ(cairn({"daemon", "start"}).exit_code, 0);
    const auto running = daemons();
    EXPECT_EQ(running.size(), 1u);
    return running.empty() ? -1 : running[0];
  }
  std::int64_t proc_number(pid_t pid, const std::string& field) {
    const std::string status = read_text("/proc/" + std::to_string(pid) + "/status");
    const std::size_t at = status.find("\n" + field + ":");
    return at == std::string::npos ? -1 : std::atoll(status.c_str() + at + field.size() + 2);
  }
};

TEST_F(DaemonTest, StartsOnceForTwoHundredHooksAtOnceAndLosesNone) {
  std::vector<std::thread> hosts;
  for (int i = 0; i < 200; ++i)
    hosts.emplace_back([this, i] {
      const Outcome outcome = hook(
          "PostToolUse", payload("s" + std::to_string(i / 10),
                                 Json::object({{"tool_name", "Bash"}, {"tool_use_id", std::to_string(i)}})));
      EXPECT_EQ(outcome.exit_code, 0);
    });
  for (auto& host : hosts) host.join();
  ASSERT_TRUE(wait_until([this] { return lock_is_held(); }, 10s));
  json({"process"});
  const Json status = json({"status"});
  EXPECT_EQ(status["ledger"]["delivered"].as_int(), 200);
  EXPECT_EQ(status["ledger"]["taken_in"].as_int(), 200);
  EXPECT_EQ(status["ledger"]["gap"].as_int(), 0);
  EXPECT_EQ(status["sessions"].as_int(), 20);
  EXPECT_EQ(daemons().size(), 1u);
  const std::string text = log();
  std::size_t serves = 0;
  for (std::size_t at = text.find("daemon serves"); at != std::string::npos;
       at = text.find("daemon serves", at + 1))
    ++serves;
  EXPECT_EQ(serves, 1u);
}

TEST_F(DaemonTest, TwoAtOnceLeaveOne) {
  std::vector<std::unique_ptr<Background>> racing;
  for (int i = 0; i < 4; ++i)
    racing.push_back(std::make_unique<Background>(program("cairn", {"daemon", "run"})));
  EXPECT_TRUE(wait_until(
      [&] { return std::count_if(racing.begin(), racing.end(), [](auto& d) { return d->running(); }) == 1; },
      10s));
  ASSERT_TRUE(wait_until([this] { return cairn({"daemon", "status"}).exit_code == 0; }, 10s));
  for (auto& daemon : racing)
    if (!daemon->running()) {
      EXPECT_EQ(daemon->wait(1s)->exit_code, 0);
    }
}

TEST_F(DaemonTest, EndsWhenItsHomeIsDeletedAndDoesNotMakeItAgain) {
  play_session("s1", "before the end", "a.txt");
  const pid_t running = start();
  // The daemon may create a file in it meanwhile.
  ASSERT_TRUE(wait_until(
      [&] {
        std::error_code failed;
        std::filesystem::remove_all(home_.data, failed);
        return !failed;
      },
      5s));
  EXPECT_TRUE(wait_until([&] { return !is_running(running); }, 30s));
  EXPECT_FALSE(exists(home_.data));
  play_session("s2", "after it", "b.txt");  // a home of its own, served by another daemon
  json({"process", "--wait"});
  EXPECT_EQ(json({"status"})["sessions"].as_int(), 1);
}

// A start that cannot succeed: the cause, and what the session shows.
TEST_F(DaemonTest, ASessionShowsWhyNoDaemonCanStart) {
  struct Case {
    std::string path, says;
  };
  for (const Case& broken : {Case{home_.key(), "is not a key of 32 bytes of yours: restore it"},
                             Case{home_.database() + "/x", "cairn.db is not a file"},
                             Case{home_.socket() + "/x", "daemon.sock is not a file"},
                             Case{home_.lock() + "/x", "daemon.lock is not a file"}}) {
    write_file(broken.path, "in the way");
    for (int i = 0; i < 2; ++i) {
      const Json answer = start_answer("s" + std::to_string(i));
      const std::string said(answer["systemMessage"].as_string());
      EXPECT_NE(said.find("the daemon cannot start: "), std::string::npos) << broken.path << said;
      EXPECT_NE(said.find(broken.says), std::string::npos) << said;
    }
    EXPECT_EQ(waiting(), 2u) << "its events are kept";
    const std::string command = cairn({"status"}).err;
    const std::string name = broken.path.substr(0, broken.path.find("/x"));
    EXPECT_NE(command.find(name), std::string::npos) << "commands name it too: " << command;
    std::filesystem::remove_all(name);
    json({"process"});
    EXPECT_EQ(json({"status"})["ledger"]["taken_in"].as_int(), 2) << broken.path;
    EXPECT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
    std::filesystem::remove_all(home_.data);
  }
  ASSERT_TRUE(os::make_dirs(disk_, home_.data).ok());
  ASSERT_EQ(mkfifo(home_.key().c_str(), 0600), 0);
  EXPECT_NE(std::string(start_answer("s3")["systemMessage"].as_string()).find("key is not a file"),
            std::string::npos);
}

TEST_F(DaemonTest, ASparseTranscriptBlocksNothing) {
  const std::string path = dir_ / "sparse.jsonl";
  write_file(path, "");
  std::filesystem::resize_file(path, 20ull << 30);
  const pid_t running = start();
  Json more = Json::object({{"source", "startup"}, {"transcript_path", path}});
  hook("SessionStart", payload("s1", more));
  hook("SessionEnd", payload("s1", Json::object({{"reason", "other"}, {"transcript_path", path}})));
  const Outcome other = hook("SessionStart", payload("s2", Json::object({{"source", "startup"}})));
  EXPECT_LT(other.elapsed, 4500ms);
  json({"process", "--wait"});
  const std::string io = read_text("/proc/" + std::to_string(running) + "/io");
  EXPECT_LT(std::atoll(io.c_str() + io.find("rchar: ") + 7), 600ll << 20) << "bytes that it read";
}

TEST_F(DaemonTest, StartsOverAStaleSocketAndALockFileOfADeadOne) {
  const pid_t first = start();
  ::kill(first, SIGSTOP);  // so that its events wait
  hook("PostToolUse", payload("s", Json::object({{"tool_name", "Bash"}, {"tool_use_id", "t"}})));
  ::kill(first, SIGKILL);
  ASSERT_TRUE(wait_until([&] { return !is_running(first); }, 5s));
  ASSERT_TRUE(exists(home_.socket()));
  const pid_t second = start();
  EXPECT_NE(first, second);
  EXPECT_EQ(cairn({"daemon", "status"}).exit_code, 0);
  json({"process"});
  EXPECT_EQ(json({"status"})["ledger"]["taken_in"].as_int(), 1);
}

TEST_F(DaemonTest, StopsCleanlyAndKeepsEverything) {
  play_session("one", "create the test file", "test.txt");
  start();
  EXPECT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
  EXPECT_TRUE(daemons().empty());
  EXPECT_FALSE(exists(home_.socket()));
  EXPECT_EQ(cairn({"daemon", "status"}).exit_code, 3);
  EXPECT_NE(cairn({"context"}).out.find("test.txt"), std::string::npos);
}

TEST_F(DaemonTest, EndsBySignalWithoutLosingWhatWaits) {
  const pid_t daemon = start();
  ::kill(daemon, SIGSTOP);
  for (int i = 0; i < 20; ++i)
    hook("PostToolUse",
         payload("s", Json::object({{"tool_name", "Bash"}, {"tool_use_id", std::to_string(i)}})));
  ASSERT_EQ(waiting(), 20u);
  ::kill(daemon, SIGTERM);
  ::kill(daemon, SIGCONT);
  ASSERT_TRUE(wait_until([&] { return !is_running(daemon); }, 5s));
  json({"process"});
  EXPECT_EQ(json({"status"})["ledger"]["taken_in"].as_int(), 20);
}

TEST_F(DaemonTest, ExitsWhenIdleAndSaysSo) {
  write_file(home_.config_file, "[daemon]\nidle_exit_minutes = 0.01\n");
  const Outcome started =
      hook("PostToolUse", payload("s", Json::object({{"tool_name", "Bash"}, {"tool_use_id", "t"}})));
  EXPECT_EQ(started.exit_code, 0);
  ASSERT_TRUE(wait_until([this] { return log().find("daemon stops: idle") != std::string::npos; }, 15s));
  EXPECT_TRUE(wait_until([this] { return daemons().empty(); }, 5s));
}

TEST_F(DaemonTest, AnIdleTimeThatIsSetWhileItRunsIsUsed) {
  hook("PostToolUse", payload("s", Json::object({{"tool_name", "Bash"}, {"tool_use_id", "t"}})));
  json({"process"});
  const pid_t daemon = daemons().at(0);
  write_file(home_.config_file, "[daemon]\nidle_exit_minutes = 0.0001\n");
  EXPECT_TRUE(wait_until(
      [&] {
        ::kill(daemon, SIGUSR1);  // a minute has passed
        return !is_running(daemon);
      },
      10s));
  EXPECT_NE(log().find("daemon stops: idle"), std::string::npos);
}

TEST_F(DaemonTest, WhereFilesMayNotGrowEventsWaitAndNoneIsQuarantined) {
  Program limited = program("cairn", {});
  limited.argv = {"/bin/sh", "-c", "ulimit -f 3000; exec \"" + bin_ + "/cairn\" daemon run"};
  // Random letters hardly shrink: compressed they are 2.4 MB, more than a file may have.
  std::mt19937 random(7);
  const auto letters = [&] {
    std::string text(200'000, ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 26);
    return text;
  };
  {
    Background daemon(limited);
    ASSERT_TRUE(wait_until([this] { return lock_is_held() && exists(home_.socket()); }, 10s));
    for (int i = 0; i < 20; ++i)
      hook("PostToolUse", payload("s", Json::object({{"tool_name", "Bash"},
                                                     {"tool_use_id", std::to_string(i)},
                                                     {"tool_response", letters()}})));
    ASSERT_TRUE(wait_until([this] { return log().find(" error ") != std::string::npos; }, 20s)) << log();
    EXPECT_TRUE(daemon.running());
    EXPECT_GT(waiting(), 0u);
    EXPECT_NE(json({"status"})["problems"].dump().find("intake: "), std::string::npos);
    daemon.kill();
  }
  json({"process"});
  const Json ledger = json({"status"})["ledger"];
  EXPECT_EQ(ledger["taken_in"].as_int(), 20);
  EXPECT_EQ(ledger["counted"].dump(), "{}");
}

TEST_F(DaemonTest, AKilledHostLeavesNoProcessOnceTheIdleTimeIsOver) {
  write_file(home_.config_file, "[daemon]\nidle_exit_minutes = 0.03\n");
  Program host = program("cairn-hook", {}, payload("s", Json::object({{"tool_name", "Bash"}})));
  host.argv = {"/bin/sh", "-c", bin_ + "/cairn-hook PostToolUse; exec sleep 600"};
  Background running(host);
  running.close_input();
  ASSERT_TRUE(wait_until([this] { return lock_is_held(); }, 10s));
  running.signal_group(SIGKILL);
  EXPECT_TRUE(wait_until([this] { return processes_with_env("CAIRN_HOME=" + home_.data).empty(); }, 15s));
  EXPECT_NE(log().find("daemon stops: idle"), std::string::npos);
}

TEST_F(DaemonTest, SessionEndIsAnsweredInTimeWithASessionAndWithout) {
  start();
  play_session("one", "create the test file", "test.txt");
  for (const std::string& input : {payload("one"), payload("nobody"), std::string("{}"), std::string()}) {
    const Outcome outcome = hook("SessionEnd", input);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    EXPECT_EQ(outcome.out, "{\"continue\": true, \"suppressOutput\": true}\n") << input;
    EXPECT_LT(outcome.elapsed, 1500ms) << input;
  }
  EXPECT_EQ(daemons().size(), 1u);
  json({"process"});
  EXPECT_EQ(json({"sessions", "show", "one"})["status"].as_string(), "completed");
}

TEST_F(DaemonTest, AnEventFromBeforeTheDaemonStartedIsReadOnceItRuns) {
  const std::string bin = dir_ / "bin";  // no cairn beside this hook: it cannot start one
  write_file(bin + "/cairn-hook", read_text(bin_ + "/cairn-hook"));
  ASSERT_EQ(chmod((bin + "/cairn-hook").c_str(), 0700), 0);
  for (const char* event : {"UserPromptSubmit", "PostToolUse", "Stop"}) {
    Program p =
        program("cairn-hook", {event}, payload("s", Json::object({{"tool_name", "Bash"}, {"prompt", "x"}})));
    p.argv[0] = bin + "/cairn-hook";
    const Outcome outcome = run(p);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_LT(outcome.elapsed, 3s);
  }
  EXPECT_TRUE(daemons().empty());
  start();
  json({"process"});
  EXPECT_EQ(json({"status"})["ledger"]["taken_in"].as_int(), 3);
}

TEST_F(DaemonTest, GoesOnAsTheNewVersionWhenItsFileIsReplaced) {
  const std::string bin = dir_ / "bin";
  write_file(bin + "/cairn", read_text(bin_ + "/cairn"));
  ASSERT_EQ(chmod((bin + "/cairn").c_str(), 0700), 0);
  Program p = program("cairn", {"daemon", "run"});
  p.argv[0] = bin + "/cairn";
  Background daemon(p);
  ASSERT_TRUE(wait_until([this] { return cairn({"daemon", "status"}).exit_code == 0; }, 10s));
  play_session("one", "create the test file", "test.txt");
  write_file(bin + "/cairn.new", read_text(bin_ + "/cairn"));
  ASSERT_EQ(chmod((bin + "/cairn.new").c_str(), 0700), 0);
  ASSERT_EQ(rename((bin + "/cairn.new").c_str(), (bin + "/cairn").c_str()), 0);
  daemon.signal(SIGUSR1);  // do now what is done every minute
  const auto serves_again = [this] {
    const std::string lines = log();
    const auto switched = lines.find("a new version is installed");
    return switched != std::string::npos && lines.find("daemon serves", switched) != std::string::npos;
  };
  ASSERT_TRUE(wait_until(serves_again, 10s));
  EXPECT_TRUE(daemon.running()) << "the same process";
  EXPECT_NE(context_of(start_answer("two")).find("test.txt"), std::string::npos);
}

TEST_F(DaemonTest, HooksAnswerInTimeWhileItIsStopped) {
  play_session("one", "create the test file", "test.txt");
  const pid_t daemon = start();
  ::kill(daemon, SIGSTOP);
  const Outcome prompt =
      hook("UserPromptSubmit", payload("two", Json::object({{"prompt", "go"}, {"prompt_id", "p"}})));
  EXPECT_EQ(prompt.out, std::string(hook::kFixedAnswer) + "\n");
  EXPECT_LT(prompt.elapsed, 1500ms);
  const Outcome session = hook("SessionStart", payload("three", Json::object({{"source", "startup"}})));
  EXPECT_EQ(session.out, std::string(hook::kFixedAnswer) + "\n");
  EXPECT_LT(session.elapsed, 4500ms);
  ::kill(daemon, SIGCONT);
  json({"process"});
  EXPECT_EQ(json({"status"})["ledger"]["gap"].as_int(), 0);
  // What the SessionStart should have been given comes with the next prompt, once.
  const Outcome made_good =
      hook("UserPromptSubmit", payload("three", Json::object({{"prompt", "go on"}, {"prompt_id", "q"}})));
  EXPECT_NE(made_good.out.find("test.txt"), std::string::npos) << made_good.out;
  const Outcome after =
      hook("UserPromptSubmit", payload("three", Json::object({{"prompt", "and on"}, {"prompt_id", "r"}})));
  EXPECT_EQ(after.out, std::string(hook::kFixedAnswer) + "\n");
}

TEST_F(DaemonTest, IsSmallAndAsleepWhenIdle) {
#ifdef CAIRN_CHECKS_THREADS
  GTEST_SKIP() << "a sanitizer's own memory and thread are not the daemon's";
#endif
  play_session("one", "create the test file", "test.txt");
  const pid_t daemon = start();
  json({"process", "--wait"});
  EXPECT_LE(proc_number(daemon, "VmRSS"), 20 * 1024);
  const auto switches = [&] {
    std::int64_t sum = 0;
    for (const auto& task : os::RealDisk().list("/proc/" + std::to_string(daemon) + "/task").value_or({})) {
      const std::string status = read_text("/proc/" + std::to_string(daemon) + "/task/" + task + "/status");
      const std::size_t at = status.find("\nvoluntary_ctxt_switches:");
      if (at != std::string::npos) sum += std::atoll(status.c_str() + at + 25);
    }
    return sum;
  };
  // Settle first: wait for a second without a wake-up, within a while.
  const bool asleep = wait_until(
      [&] {
        const std::int64_t before = switches();
        std::this_thread::sleep_for(2s);
        return switches() == before;
      },
      20s);
  EXPECT_TRUE(asleep);
}

TEST_F(DaemonTest, CarriesNothingOfTheHostsEnvironment) {
  Program p = program("cairn-hook", {"PostToolUse"},
                      payload("s", Json::object({{"tool_name", "Bash"}, {"tool_use_id", "t"}})));
  p.env.insert(p.env.end(),
               {"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s", "SECRET_OF_THE_USER=1", "LANG=C.UTF-8"});
  EXPECT_EQ(run(p).exit_code, 0);
  ASSERT_TRUE(wait_until([this] { return lock_is_held(); }, 10s));
  const auto running = daemons();
  ASSERT_EQ(running.size(), 1u);
  const std::string environment = read_text("/proc/" + std::to_string(running[0]) + "/environ");
  EXPECT_EQ(environment.find("CLAUDE"), std::string::npos);
  EXPECT_EQ(environment.find("SECRET_OF_THE_USER"), std::string::npos);
  EXPECT_NE(environment.find("LANG=C.UTF-8"), std::string::npos);
}

TEST_F(DaemonTest, KeepsItsFilesToItself) {
  const mode_t before = umask(0);
  play_session("one", "create the test file", "test.txt");
  start();
  umask(before);
  const Outcome open = run({.argv = {"find", home_.data, "(", "-type", "d", "!", "-perm", "700", "-o", "!",
                                     "-type", "d", "!", "-perm", "600", ")"}});
  EXPECT_EQ(open.out, "");
}

TEST_F(DaemonTest, RefusesWhatItDoesNotUnderstandOnItsSocket) {
  start();
  const auto ask = [&](const std::string& line) {
    auto fd = os::connect_unix(home_.socket(), 1000);
    EXPECT_TRUE(fd.ok());
    std::string rest;
    constexpr std::int64_t kFar = std::int64_t{1} << 62;
    EXPECT_TRUE(os::send_all(fd->get(), line + "\n", kFar).ok());
    return Json::parse(os::read_line(fd->get(), rest, 1 << 20, kFar).value_or("")).value_or(Json());
  };
  EXPECT_EQ(ask("not json")["error"]["code"].as_string(), "invalid");
  EXPECT_EQ(ask("{\"v\":99,\"op\":\"ping\"}")["error"]["code"].as_string(), "unsupported");
  EXPECT_EQ(ask("{\"v\":1,\"op\":\"nonsense\"}")["error"]["code"].as_string(), "unsupported");
  EXPECT_EQ(
      ask("{\"v\":1,\"op\":\"answer\",\"args\":{\"event\":\"../../x\",\"ms\":100}}")["continue"].as_bool(),
      true);
  EXPECT_TRUE(ask("{\"v\":1,\"op\":\"ping\"}")["ok"].as_bool());
}

TEST_F(DaemonTest, ReadsTenThousandWaitingEventsAndAnswersInTimeMeanwhile) {
  play_session("one", "create the test file", "test.txt");
  EXPECT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
  os::RealDisk disk;
  os::RealClock clock;
  hook::Inbox inbox(disk, clock, home_.inbox());
  for (int i = 0; i < 10'000; ++i) {
    const std::string text =
        payload("backlog", Json::object({{"tool_name", "Bash"},
                                         {"tool_use_id", std::to_string(i)},
                                         {"tool_input", Json::object({{"command", "make"}})}}));
    bool done = false;
    hook::Envelope envelope;
    envelope.event = "PostToolUse";
    ASSERT_TRUE(inbox
                    .deliver(
                        envelope,
                        [&](char* to, std::size_t size) -> Result<std::size_t> {
                          if (std::exchange(done, true)) return std::size_t{0};
                          return text.copy(to, size);
                        },
                        hook::Flags::Sync::process)
                    .ok());
  }
  const Outcome outcome = hook("SessionStart", payload("two", Json::object({{"source", "startup"}})));
  EXPECT_LT(outcome.elapsed, 4500ms);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(cairn({"process"}).exit_code, 0);
  const Json status = json({"status"});
  EXPECT_EQ(status["ledger"]["gap"].as_int(), 0);
  EXPECT_EQ(status["ledger"]["taken_in"].as_int(), 10'006);
}

}  // namespace cairn::test
