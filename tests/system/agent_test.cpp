// A provider that is a process of its own, under the real daemon: it works, and it never outlives what it is
// for.
#include <filesystem>
#include <set>

#include "base/text.h"
#include "system/home_fixture.h"

namespace cairn::test {

class AgentProcess : public HomeTest {
 protected:
  ~AgentProcess() override {
    for (const pid_t pid : children()) ::kill(pid, SIGKILL);
  }

  void script(const std::string& text) { write_file(home_.data + "/script", text); }

  Background serve(std::vector<std::string> env = {}) {
    Program p = program("scripted_agent", {"daemon"});
    p.env.push_back("CAIRN_AGENT_BATCH_WAIT_SECONDS=0");
    p.env.insert(p.env.end(), env.begin(), env.end());
    Background daemon(p);
    EXPECT_TRUE(wait_until([this] { return lock_is_held() && exists(home_.socket()); }, 10s));
    return daemon;
  }

  // One turn of a session that goes on.
  void turn(const std::string& session, int number = 1) {
    const std::string prompt = session + "-p" + std::to_string(number);
    hook("UserPromptSubmit", payload(session, Json::object({{"prompt", "work"}, {"prompt_id", prompt}})));
    hook("PostToolUse",
         payload(session, Json::object({{"prompt_id", prompt},
                                        {"tool_name", "Bash"},
                                        {"tool_use_id", prompt + "-t"},
                                        {"tool_input", Json::object({{"command", "make"}})}})));
    hook("Stop",
         payload(session, Json::object({{"prompt_id", prompt}, {"last_assistant_message", "Done."}})));
  }
  void end(const std::string& session) {
    hook("SessionEnd", payload(session, Json::object({{"reason", "other"}})));
  }

  std::vector<pid_t> children() {
    std::vector<pid_t> found;
    for (const pid_t pid : processes_with_env("CAIRN_HOME=" + home_.data))
      if (read_text("/proc/" + std::to_string(pid) + "/cmdline").find("child") != std::string::npos)
        found.push_back(pid);
    return found;
  }
  bool all_gone(const std::vector<pid_t>& pids) {
    return std::none_of(pids.begin(), pids.end(), [](pid_t pid) { return is_running(pid); });
  }
  // What the children learned of session "one".
  std::size_t learned() {
    const std::string rows = json({"debug", "sql", "observations", "one"})["rows"].dump();
    std::size_t count = 0;
    for (std::size_t at = rows.find("learned by"); at != std::string::npos;
         at = rows.find("learned by", at + 1))
      ++count;
    return count;
  }
};

TEST_F(AgentProcess, DistilsASessionInOneChildWhichIsGoneWithinTwoSecondsOfItsEnd) {
  Background daemon = serve();
  turn("one");
  ASSERT_TRUE(wait_until([this] { return learned() == 1; }, 10s));
  turn("one", 2);
  ASSERT_TRUE(wait_until([this] { return learned() == 2; }, 10s));
  const auto running = children();
  EXPECT_EQ(running.size(), 1u);
  end("one");
  EXPECT_TRUE(wait_until([&] { return all_gone(running); }, 2s));
  EXPECT_TRUE(wait_until([this] { return children().empty(); }, 2s));
  EXPECT_TRUE(daemon.running());
}

TEST_F(AgentProcess, AChildHasItsOwnGroupNoDescriptorAndNoSecretOfOurs) {
  Background daemon = serve({"HUSH_TOKEN=x", "ANTHROPIC_API_KEY=y", "CAIRN_LOG_LEVEL=info", "https_proxy=z",
                             "CLAUDE_CODE_SESSION_ID=s", "LC_ALL=C"});
  script("hang");
  turn("one");
  ASSERT_TRUE(wait_until([this] { return children().size() == 1; }, 10s));
  const pid_t pid = children()[0];
  const std::string proc = "/proc/" + std::to_string(pid);
  std::set<std::string> names;
  const std::string environment = read_text(proc + "/environ");
  for (const std::string_view entry : split(environment, '\0'))
    if (!entry.empty()) names.emplace(entry.substr(0, entry.find('=')));
  EXPECT_EQ(names, (std::set<std::string>{"CAIRN_HOME", "HOME", "LC_ALL", "PATH"}));
  EXPECT_EQ(getpgid(pid), pid);
  EXPECT_NE(getpgid(daemon.pid()), pid);
  // The loader opens files of its own before the program begins, and closes them: what is inherited stays.
  std::set<std::string> descriptors;
  const auto only_its_own = [&] {
    descriptors.clear();
    for (const auto& entry : std::filesystem::directory_iterator(proc + "/fd"))
      descriptors.insert(entry.path().filename().string());
    return descriptors == std::set<std::string>{"0", "1", "2"};
  };
  EXPECT_TRUE(wait_until(only_its_own, 10s)) << testing::PrintToString(descriptors);
  EXPECT_EQ(std::filesystem::read_symlink(proc + "/fd/2"), "/dev/null");
  EXPECT_EQ(std::filesystem::read_symlink(proc + "/cwd"), "/");
}

TEST_F(AgentProcess, AChildThatHangsAndWhatItStartedAreGoneTooAndItsWorkIsDoneByAnother) {
  Background daemon = serve();
  script("stubborn");
  turn("one");
  ASSERT_TRUE(wait_until([this] { return children().size() == 2; }, 10s));  // it, and its own child
  const auto running = children();
  script("good");
  end("one");
  EXPECT_TRUE(wait_until([&] { return all_gone(running); }, 2s));
  EXPECT_TRUE(wait_until([this] { return learned() == 1; }, 10s));
  EXPECT_TRUE(wait_until([this] { return children().empty(); }, 2s));
}

TEST_F(AgentProcess, NoneIsLeftTwoSecondsAfterTheDaemonIsKilled) {
  Background daemon = serve();
  script("hang");
  turn("one");
  turn("two");
  ASSERT_TRUE(wait_until([this] { return children().size() == 2; }, 10s));
  daemon.signal(SIGKILL);
  EXPECT_TRUE(wait_until([this] { return children().empty(); }, 2s));
  ASSERT_TRUE(daemon.wait(5s).has_value());  // it holds its lock until it is gone
  script("good");
  Background next = serve();
  EXPECT_TRUE(wait_until([this] { return learned() == 2; }, 20s)) << learned();
}

TEST_F(AgentProcess, AStoppedDaemonTakesThemWithItAndPutsTheirWorkBack) {
  Background daemon = serve();
  script("hang");
  turn("one");
  ASSERT_TRUE(wait_until([this] { return children().size() == 1; }, 10s));
  daemon.signal(SIGTERM);
  ASSERT_TRUE(daemon.wait(5s).has_value());
  EXPECT_TRUE(children().empty());
  EXPECT_TRUE(json({"process"})["queue"]["failed"].as_int() == 0);
  const Json processed = json({"queue", "list", "--recent", "5"});
  EXPECT_EQ(processed["messages"].items().size(), 2u);
  for (const Json& message : processed["messages"].items()) EXPECT_EQ(message["retry_count"].as_int(), 0);
}

TEST_F(AgentProcess, ProcessWaitsForAReplyThatTakesItsTime) {
  Background daemon = serve();
  script("slow 700");
  turn("one");
  const Json done = json({"process", "--wait"});
  EXPECT_EQ(done["queue"]["pending"].as_int() + done["queue"]["processing"].as_int(), 0);
  EXPECT_EQ(learned(), 1);
}

TEST_F(AgentProcess, AProcessedMessageBeginsTheIdleTimeAnew) {
  write_file(home_.config_file, "[daemon]\nidle_exit_minutes = 0.08\n");  // 4.8 s
  Background daemon = serve();
  script("slow 2000");
  turn("one");
  const auto before = std::chrono::steady_clock::now();
  ASSERT_TRUE(daemon.wait(30s).has_value());
  EXPECT_GE(std::chrono::steady_clock::now() - before, 6700ms);  // 2 s until the reply, then the idle time
  EXPECT_NE(log().find("daemon stops: idle"), std::string::npos);
  EXPECT_TRUE(children().empty());
  EXPECT_EQ(json({"status"})["queue"]["processed"].as_int(), 2);
}

TEST_F(AgentProcess, AChildThatDiesOrCannotBeStartedCostsNoMessage) {
  Background daemon = serve({"SCRIPTED_CHILD=" + dir_ / "missing"});
  turn("one");
  ASSERT_TRUE(wait_until([this] { return log().find("provider=scripted") != std::string::npos; }, 10s));
  EXPECT_EQ(json({"status"})["queue"]["failed"].as_int(), 0);
  daemon.signal(SIGTERM);
  ASSERT_TRUE(daemon.wait(5s).has_value());
  Background again = serve();
  script("die");
  turn("one", 2);
  ASSERT_TRUE(wait_until([this] { return log().find("the child ended") != std::string::npos; }, 20s));
  script("good");
  EXPECT_TRUE(wait_until(
      [this] { return json({"status"})["queue"]["pending"].as_int() == 0 && learned() > 0; }, 30s));
  EXPECT_TRUE(children().size() <= 1);
}

}  // namespace cairn::test
