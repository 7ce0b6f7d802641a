// The real Claude Code as a memory agent, against the scripted model: isolated, resumable, never in the way.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

#include "agent/providers/factory.h"
#include "daemon/children.h"
#include "daemon/http.h"
#include "host/claude.h"
#include "os/clock.h"
#include "os/disk.h"
#include "support/wait.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;
using agent::Reply;
using agent::Trouble;

class SilentLog final : public Log {
  void line(std::string_view) override {}
};

// The host writes a conversation to its file some time after the reply. Only what is there can be resumed.
bool is_written(const std::string& config_dir, const std::string& conversation) {
  return wait_until(
      [&] {
        std::error_code none;
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(config_dir + "/projects", none))
          if (entry.path().filename() == conversation + ".jsonl" &&
              read_text(entry.path().string()).find("\"type\":\"assistant\"") != std::string::npos)
            return true;
        return false;
      },
      10s);
}

class MemoryAgentHost : public testing::Test {
 protected:
  void SetUp() override {
    const std::string problem = machine.start();
    ASSERT_TRUE(problem.empty()) << problem;
    // The user's own hooks and instructions must not reach it: each leaves a mark.
    const Json hook = Json::array({Json::object(
        {{"hooks", Json::array({Json::object(
                       {{"type", "command"}, {"command", "touch " + machine.path("a-hook-ran")}})})}})});
    write_file(machine.config_dir() + "/settings.json",
               Json::object({{"hooks", Json::object({{"SessionStart", hook},
                                                     {"UserPromptSubmit", hook},
                                                     {"Stop", hook},
                                                     {"SessionEnd", hook}})}})
                   .dump());
    write_file(machine.config_dir() + "/CLAUDE.md", "INSTRUCTION-OF-THE-USER\n");
    loop_ = *daemon::Loop::create();
    children_ = std::make_unique<daemon::LoopChildren>(*loop_, log_, [] {});
    http_ = std::make_unique<daemon::LoopHttp>(*loop_, [] {});
    thread_ = std::thread([this] { loop_->run(); });
  }
  void TearDown() override {
    conversation_.reset();
    if (!thread_.joinable()) return;
    EXPECT_TRUE(wait_until([this] { return running().empty(); }, 2s)) << "a child outlived its conversation";
    loop_->post([this] { loop_->stop(); });
    thread_.join();
    http_.reset();
    children_.reset();
    EXPECT_FALSE(exists(machine.path("a-hook-ran")));
    for (const auto& [name, value] : before_)
      value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  }

  void variable(const std::string& name, const std::string& value) {
    const char* now = ::getenv(name.c_str());
    before_.emplace(name, now ? now : "");
    value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  }
  // Begins a conversation; the model replies with `turns`.
  void start(std::string_view script, Json::Array turns, std::optional<MemoryId> resume = {}) {
    if (!turns.empty()) machine.script(script, {}, {Json::object({{"turns", std::move(turns)}})});
    for (const std::string& one : machine.environment(script)) {
      const std::size_t equals = one.find('=');
      if (one.starts_with("ANTHROPIC") || one.starts_with("HOME=") || one.starts_with("CLAUDE_CONFIG"))
        variable(one.substr(0, equals), one.substr(equals + 1));
    }
    const char* path = ::getenv("PATH");
    if (before_.count("PATH") == 0) variable("PATH", machine.claude_dir() + ":" + (path ? path : ""));
    provider_ = agent::make_provider({"claude-cli", "", "", ""},
                                     {*children_, *http_, disk_, clock_, machine.path("cairn/agent")});
    ASSERT_TRUE(provider_);
    conversation_ = provider_->start({SessionId{1}, "project", std::move(resume)});
  }

  // The next reply or trouble; keeps the id.
  std::variant<agent::ProviderNote, Reply, Trouble> next() {
    std::optional<agent::ProviderMessage> message;
    const auto is_said = [&] {
      while ((message = conversation_->receive())) {
        if (!message->memory_id.empty()) id_ = message->memory_id;
        if (!std::holds_alternative<agent::ProviderNote>(message->what)) return true;
      }
      return false;
    };
    EXPECT_TRUE(wait_until(is_said, 30s));
    if (!message) return agent::ProviderNote{};
    return std::move(message->what);
  }
  void send(std::string text) { conversation_->send({"batch", "You keep a memory.", std::move(text), 2000}); }
  Reply reply(std::string text) {
    send(std::move(text));
    const auto said = next();
    if (const auto* trouble = std::get_if<Trouble>(&said)) ADD_FAILURE() << trouble->reason;
    const auto* good = std::get_if<Reply>(&said);
    return good ? *good : Reply{};
  }
  Trouble trouble(std::string text) {
    send(std::move(text));
    const auto said = next();
    if (const auto* good = std::get_if<Reply>(&said)) ADD_FAILURE() << good->text;
    const auto* failed = std::get_if<Trouble>(&said);
    return failed ? *failed : Trouble{};
  }
  // The children of this test: others may run beside it.
  std::vector<pid_t> running() {
    std::vector<pid_t> children = processes_with("--system-prompt You keep a memory.");
    const auto here = processes_with_env("HOME=" + machine.path("home"));
    std::erase_if(children, [&](pid_t pid) { return std::ranges::count(here, pid) == 0; });
    return children;
  }

  HostMachine machine;
  SilentLog log_;
  os::RealDisk disk_;
  os::RealClock clock_;
  std::unique_ptr<daemon::Loop> loop_;
  std::unique_ptr<daemon::LoopChildren> children_;
  std::unique_ptr<daemon::LoopHttp> http_;
  std::unique_ptr<agent::Provider> provider_;
  std::unique_ptr<agent::Conversation> conversation_;
  std::thread thread_;
  std::map<std::string, std::string> before_;
  MemoryId id_;
};

TEST_F(MemoryAgentHost, AnswersSeveralPromptsInOneProcessWithoutToolsHooksOrInstructions) {
  start("one", {say("<skip reason=\"first\"/>"), say("second")});
  EXPECT_EQ(reply("/compact is how this prompt begins").text, "<skip reason=\"first\"/>");
  EXPECT_EQ(id_.value.size(), 36u);
  const auto children = running();
  ASSERT_EQ(children.size(), 1u);
  const std::string line = read_text("/proc/" + std::to_string(children[0]) + "/cmdline");
  const char* key = ::getenv("ANTHROPIC_API_KEY");
  ASSERT_TRUE(key && *key);
  EXPECT_EQ(line.find(key), std::string::npos);

  const Reply second = reply("and another");
  EXPECT_EQ(second.text, "second");
  EXPECT_EQ(second.usage.input_tokens, 1000);
  EXPECT_EQ(second.usage.output_tokens, 50);
  ASSERT_TRUE(second.usage.cost_usd);
  EXPECT_GT(*second.usage.cost_usd, 0);
  EXPECT_EQ(running(), children) << "one process";
  const auto asked = machine.requests("one");
  ASSERT_EQ(asked.size(), 2u);
  for (const ModelRequest& request : asked) {
    EXPECT_EQ(request.session, id_.value);
    EXPECT_TRUE(request.body["tools"].items().empty());
    EXPECT_FALSE(request.has("INSTRUCTION-OF-THE-USER"));
    EXPECT_EQ(request.body["max_tokens"].as_int(), 2000);
    EXPECT_EQ(request.body["thinking"]["type"].as_string("disabled"), "disabled");
  }
  EXPECT_TRUE(asked[0].has("/compact is how this prompt begins"));
}

TEST_F(MemoryAgentHost, AChildThatEndedBetweenTwoPromptsIsResumedByItsId) {
  start("one", {say("first"), say("second")});
  reply("remember the word tangerine");
  const MemoryId first = id_;
  ASSERT_TRUE(is_written(machine.config_dir(), first.value));
  for (const pid_t pid : running()) ::kill(pid, SIGKILL);
  const auto said = next();
  ASSERT_TRUE(std::holds_alternative<Trouble>(said));
  EXPECT_EQ(std::get<Trouble>(said).kind, Trouble::Kind::canceled) << "no call was lost";
  start("one", {}, first);
  EXPECT_EQ(reply("go on").text, "second");
  EXPECT_EQ(id_, first);
  const auto asked = machine.requests("one");
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_TRUE(asked[1].has("tangerine")) << "the history is there";
}

TEST_F(MemoryAgentHost, AConversationThatIsGoneIsNotResumedAndTheNextOneIsNew) {
  start("one", {say("fresh")}, MemoryId{"11111111-1111-4111-8111-111111111111"});
  const Trouble gone = trouble("go on");
  EXPECT_EQ(gone.kind, Trouble::Kind::canceled);
  EXPECT_NE(gone.reason.find("No conversation found"), std::string::npos) << gone.reason;
  EXPECT_TRUE(id_.empty()) << "the id of a conversation that does not exist is not reported";
  start("one", {});
  EXPECT_EQ(reply("again").text, "fresh");
  EXPECT_FALSE(id_.empty());
}

TEST_F(MemoryAgentHost, AChildKilledInMidReplyLosesOnlyItsCall) {
  Json slow = say("late");
  slow.set("hang", true);
  start("one", {slow, say("better")});
  send("a prompt");
  ASSERT_TRUE(machine.wait_for_requests("one", 1));
  for (const pid_t pid : running()) ::kill(pid, SIGKILL);
  const auto said = next();
  ASSERT_TRUE(std::holds_alternative<Trouble>(said));
  EXPECT_EQ(std::get<Trouble>(said).kind, Trouble::Kind::transient);
  start("one", {});
  EXPECT_EQ(reply("a prompt").text, "better");
}

Json failing(int status, std::string_view message) {
  Json turn = Json::object();
  turn.set("fail", Json::object({{"status", status}, {"message", message}}));
  return turn;
}

TEST_F(MemoryAgentHost, ErrorsOfTheServiceHaveTheirClasses) {
  start("limit", {failing(429, "slow down")});
  EXPECT_EQ(trouble("a prompt").kind, Trouble::Kind::rate_limited);
  start("login", {failing(401, "invalid x-api-key")});
  const Trouble login = trouble("a prompt");
  EXPECT_EQ(login.kind, Trouble::Kind::auth);
  EXPECT_NE(login.reason.find("/login"), std::string::npos) << login.reason;
  start("credit", {failing(400, "Your credit balance is too low to access the Anthropic API.")});
  EXPECT_EQ(trouble("a prompt").kind, Trouble::Kind::quota);
  start("busy", {failing(529, "Overloaded")});
  EXPECT_EQ(trouble("a prompt").kind, Trouble::Kind::transient);
}

TEST_F(MemoryAgentHost, AReplyThatAsksForAToolRunsNothing) {
  start("one", {call("Bash", Json::object({{"command", "touch " + machine.path("it-ran")}}), "I will"),
                say("never asked for")});
  const Trouble refused = trouble("a prompt");
  EXPECT_EQ(refused.kind, Trouble::Kind::rejected);
  EXPECT_EQ(refused.usage.input_tokens, 1000) << "what the failed call cost is known";
  EXPECT_FALSE(exists(machine.path("it-ran")));
  EXPECT_EQ(machine.requests("one").size(), 1u) << "the tool's error is not sent back";
}

TEST_F(MemoryAgentHost, AReplyAtTheTokenLimitIsTakenAsItIs) {
  Json cut = say("<observation><title>half");
  cut.set("stop", "max_tokens");
  start("one", {cut, say("a continuation"), say("a continuation")});
  const Reply half = reply("a prompt");
  EXPECT_EQ(half.text, "<observation><title>half");
  EXPECT_TRUE(half.cut);
  EXPECT_EQ(half.usage.output_tokens, 50);
  EXPECT_TRUE(wait_until([this] { return running().empty(); }, 2s));
}

TEST_F(MemoryAgentHost, ProseIsAReplyToo) {
  start("one", {say("I am sorry, I cannot help with that.")});
  EXPECT_EQ(reply("a prompt").text, "I am sorry, I cannot help with that.");
}

TEST_F(MemoryAgentHost, WithoutTheProgramTheUserIsToldWhatToDo) {
  variable("PATH", "/nowhere");
  start("one", {say("x")});
  const auto said = next();
  ASSERT_TRUE(std::holds_alternative<Trouble>(said));
  EXPECT_EQ(std::get<Trouble>(said).kind, Trouble::Kind::setup);
  EXPECT_NE(std::get<Trouble>(said).reason.find("install Claude Code"), std::string::npos);
}

// Every file below `root`, with its size and time of change.
std::map<std::string, std::string> files_below(const std::string& root) {
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    found[entry.path().string()] = std::to_string(entry.file_size()) + "@" +
                                   std::to_string(entry.last_write_time().time_since_epoch().count());
  }
  return found;
}

TEST_F(MemoryAgentHost, WritesNothingOutsideItsOwnAndTheHostsConfigurationDirectory) {
  // As most people have it: no CLAUDE_CONFIG_DIR, so that ~/.claude.json is part of the configuration.
  const std::string home = machine.path("home");
  write_file(home + "/.claude/settings.json", "{}");
  write_file(home + "/.claude.json", "{}");
  const auto before = files_below(machine.path(""));
  machine.script("one", {}, {Json::object({{"turns", Json::array({say("first"), say("second")})}})});
  start("one", {});
  variable("CLAUDE_CONFIG_DIR", "");
  conversation_.reset();
  provider_ = agent::make_provider({"claude-cli", "", "", ""},
                                   {*children_, *http_, disk_, clock_, machine.path("cairn/agent")});
  conversation_ = provider_->start({SessionId{1}, "project", {}});
  EXPECT_EQ(reply("a prompt").text, "first");
  const MemoryId first = id_;
  ASSERT_TRUE(is_written(home + "/.claude", first.value));
  conversation_.reset();
  ASSERT_TRUE(wait_until([this] { return running().empty(); }, 3s));
  conversation_ = provider_->start({SessionId{1}, "project", first});
  EXPECT_EQ(reply("go on").text, "second") << "resuming works with that little";
  conversation_.reset();
  ASSERT_TRUE(wait_until([this] { return running().empty(); }, 3s));
  for (const auto& [file, state] : files_below(machine.path(""))) {
    const auto known = before.find(file);
    if (known != before.end() && known->second == state) continue;
    const bool allowed = file.starts_with(home + "/.claude/") || file == home + "/.claude.json" ||
                         file.starts_with(machine.path("cairn/agent/")) ||
                         file == machine.path("requests.jsonl") || file.starts_with(machine.path("scripts/"));
    EXPECT_TRUE(allowed) << file;
  }
  EXPECT_FALSE(files_below(home + "/.claude/projects").empty());
}

// The real daemon with the real program: what a user has after `cairn config set agent.provider`.
class MemoryAgentDaemon : public testing::Test {
 protected:
  void SetUp() override {
    const std::string problem = machine.start();
    ASSERT_TRUE(problem.empty()) << problem;
    Json::Array turns;
    for (int i = 1; i <= 12; ++i)
      turns.push_back(say("<observation><type>discovery</type><title>learned " + std::to_string(i) +
                          "</title><narrative>The lexer has a bug.</narrative></observation>"));
    machine.script("agent", {}, {Json::object({{"turns", std::move(turns)}})});
    ASSERT_TRUE(cairn({"daemon", "start"}).ok());
  }
  void TearDown() override {
    cairn({"daemon", "stop"});
    EXPECT_TRUE(wait_until([this] { return children().empty(); }, 2s));
  }

  Outcome cairn(std::vector<std::string> arguments, std::string input = {}) const {
    Program program{.argv = {std::string(CAIRN_BIN_DIR) + "/" + arguments.front()},
                    .env = machine.environment("agent"),
                    .clean_env = true,
                    .cwd = machine.project(),
                    .input = std::move(input),
                    .timeout = 60s};
    if (arguments.front() != "cairn-hook")
      program.argv = {std::string(CAIRN_BIN_DIR) + "/cairn", arguments[0]};
    program.argv.insert(program.argv.end(), arguments.begin() + 1, arguments.end());
    for (std::string& one : program.env)
      if (one.starts_with("PATH=")) one.insert(5, machine.claude_dir() + ":");
    program.env.push_back("CAIRN_AGENT_PROVIDER=claude-cli");
    program.env.push_back("CAIRN_AGENT_BATCH_WAIT_SECONDS=0");
    return run(program);
  }
  void hook(const std::string& event, Json payload) const {
    payload.set("session_id", kSession);
    payload.set("hook_event_name", event);
    payload.set("cwd", machine.project());
    cairn({"cairn-hook", event}, payload.dump());
  }
  // One turn; waits until the model has been asked about it and nothing is left to do.
  void turn(int number) {
    const std::size_t before = machine.requests("agent").size();
    const std::string prompt = "p" + std::to_string(number);
    hook("UserPromptSubmit", Json::object({{"prompt", "work " + prompt}, {"prompt_id", prompt}}));
    hook("PostToolUse", Json::object({{"prompt_id", prompt},
                                      {"tool_name", "Bash"},
                                      {"tool_use_id", prompt + "-t"},
                                      {"tool_input", Json::object({{"command", "make"}})},
                                      {"tool_response", Json::object({{"stdout", "ok " + prompt}})}}));
    hook("Stop", Json::object({{"prompt_id", prompt}, {"last_assistant_message", "Done " + prompt + "."}}));
    ASSERT_TRUE(wait_until([&] { return machine.requests("agent").size() > before; }, 40s))
        << prompt << log();
    ASSERT_TRUE(wait_until(
        [&] {
          const Json queue = status()["queue"];
          return queue["pending"].as_int(1) + queue["processing"].as_int(1) == 0;
        },
        40s))
        << prompt << log();
  }
  Json status() const { return Json::parse(cairn({"status", "--json"}).out).value_or(Json()); }
  std::string memory_id() const {
    const Json shown = Json::parse(cairn({"sessions", "show", kSession, "--json"}).out).value_or(Json());
    const std::string text = shown.dump();
    const std::size_t at = text.find("\"memory_session_id\":\"");
    return at == std::string::npos ? "" : text.substr(at + 21, 36);
  }
  std::string log() const { return read_text(machine.cairn_home() + "/logs/daemon.log"); }
  std::vector<pid_t> children() const { return processes_with("--strict-mcp-config --setting-sources"); }
  void kill_children() const {
    const auto ends = [this] {
      const std::string all = log();
      std::size_t count = 0;
      for (std::size_t at = 0; (at = all.find("child ended", at)) != std::string::npos; ++at) ++count;
      return count;
    };
    const std::size_t before = ends();
    for (const pid_t pid : children()) ::kill(pid, SIGKILL);
    ASSERT_TRUE(wait_until([&] { return children().empty() && ends() > before; }, 5s)) << log();
  }
  std::int64_t observations() const { return status()["observations"].as_int(); }

  static constexpr const char* kSession = "5e7c52da-cab6-4310-9079-6426b048eb42";
  HostMachine machine;
};

TEST_F(MemoryAgentDaemon, ResumesByTheRuleBeginsAnewWhenItMustAndLosesNothing) {
  turn(1);
  const std::string first = memory_id();
  ASSERT_EQ(first.size(), 36u) << log();
  EXPECT_EQ(machine.requests("agent").back().session, first);

  ASSERT_TRUE(is_written(machine.config_dir(), first));
  kill_children();  // between two prompts
  turn(2);
  EXPECT_EQ(memory_id(), first) << log();
  EXPECT_TRUE(machine.requests("agent").back().has("work p1") ||
              machine.requests("agent").back().has("ok p1"))
      << "its history was sent again";

  kill_children();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(machine.config_dir() + "/projects"))
    if (entry.path().filename() == first + ".jsonl") std::filesystem::remove(entry.path());
  turn(3);  // nothing to resume: begun anew, registered again
  const std::string second = memory_id();
  EXPECT_EQ(second.size(), 36u);
  EXPECT_NE(second, first);

  const auto daemons = machine.daemons();
  ASSERT_EQ(daemons.size(), 1u);
  ::kill(daemons[0], SIGKILL);
  EXPECT_TRUE(wait_until([this] { return children().empty(); }, 2s));
  turn(4);  // another daemon
  EXPECT_NE(memory_id(), second) << "after a restart a conversation is new";
  EXPECT_EQ(log().find("failed="), std::string::npos);
  EXPECT_EQ(status()["queue"]["failed"].as_int(-1), 0);
  EXPECT_GE(observations(), 4);
  const std::string key = "ANTHROPIC_API_KEY=";
  for (const std::string& one : machine.environment("agent"))
    if (one.starts_with(key)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(machine.cairn_home())) {
        if (entry.is_regular_file() &&
            read_text(entry.path().string()).find(one.substr(key.size())) != std::string::npos)
          ADD_FAILURE() << "the key is in " << entry.path();
      }
    }
}

}  // namespace
}  // namespace cairn::test
