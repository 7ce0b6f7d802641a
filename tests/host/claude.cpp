#include "host/claude.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "hook/control.h"
#include "support/wait.h"

namespace cairn::test {

namespace {

using namespace std::chrono_literals;

// The TUI asks about an unknown key; it knows one by its last 20 characters.
constexpr std::string_view kApiKey = "sk-test-0123456789-0123456789";

std::string find_claude() {
  if (const char* chosen = std::getenv("CAIRN_TEST_CLAUDE"); chosen && *chosen) return chosen;
  return CAIRN_CLAUDE;
}

// What follows `marker` in every string of the request that has it, up to the host's next own text.
void collect_injected(Json& value, std::string& to) {
  value.for_each_string([&](std::string& text) {
    constexpr std::string_view kMarker = " hook additional context: ";
    for (std::size_t at = text.find(kMarker); at != std::string::npos; at = text.find(kMarker, at + 1)) {
      const std::size_t begin = at + kMarker.size();
      const std::size_t end =
          std::min(text.find("\n\nAvailable agent types", begin), text.find(kMarker, begin));
      to += text.substr(begin, end == std::string::npos ? end : end - begin) + "\n";
    }
  });
}

std::vector<pid_t> children_free_of(const std::vector<pid_t>& pids, std::string_view program) {
  std::vector<pid_t> rest;
  for (pid_t pid : pids) {
    std::error_code error;
    const auto exe =
        std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).filename().string();
    if (exe.rfind(program, 0) == 0) rest.push_back(pid);
  }
  return rest;
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

Json say(std::string_view text) {
  return Json::object({{"text", text}});
}

Json call(std::string_view tool, Json input, std::string_view text) {
  Json turn =
      Json::object({{"tools", Json::array({Json::object({{"name", tool}, {"input", std::move(input)}})})}});
  if (!text.empty()) turn.set("text", text);
  return turn;
}

Json bash(std::string_view command) {
  return call("Bash", Json::object({{"command", command}, {"description", "a step"}}));
}

std::size_t ModelRequest::count(std::string_view words) const {
  std::size_t found = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + words.size()))
    ++found;
  return found;
}

std::string ModelRequest::injected() const {
  std::string result;
  Json copy = body;
  collect_injected(copy, result);
  return result;
}

std::string HostMachine::start() {
  claude_ = find_claude();
  if (::access(claude_.c_str(), X_OK) != 0)
    return "there is no Claude Code at " + claude_ +
           ": run scripts/fetch_claude_code or set CAIRN_TEST_CLAUDE";
  project_ = dir_ / "code/proj";
  cairn_home_ = dir_ / "cairn";
  write_file(project_ + "/README.md", "# A project\n");
  write_file(dir_ / "home/.gitconfig",
             "[user]\n\tname = Dev\n\temail = dev@example.org\n[init]\n\tdefaultBranch = main\n");
  std::filesystem::create_directories(dir_ / "scripts");
  for (std::vector<std::string> argv : {std::vector<std::string>{"git", "init", "-q"},
                                        {"git", "add", "."},
                                        {"git", "commit", "-q", "-m", "start"}})
    if (const Outcome outcome = run_here(argv); !outcome.ok()) return "git: " + outcome.describe();
  write_host_settings();

  const std::string port_file = dir_ / "port";
  api_ = std::make_unique<Background>(
      Program{.argv = {"node", std::string(CAIRN_TESTS_DIR) + "/host/messages_api.mjs", "--scripts",
                       dir_ / "scripts", "--log", dir_ / "requests.jsonl", "--port-file", port_file}});
  if (!wait_until([&] { return exists(port_file) || !api_->running(); }, 10s) || !api_->running())
    return "the scripted Messages API did not start: " + api_->err();
  port_ = std::atoi(read_text(port_file).c_str());
  return {};
}

HostMachine::~HostMachine() = default;

// What the TUI would ask at its first start.
void HostMachine::write_host_settings() const {
  const Json settings = Json::object(
      {{"hasCompletedOnboarding", true},
       {"bypassPermissionsModeAccepted", true},
       {"customApiKeyResponses",
        Json::object(
            {{"approved", Json::array({kApiKey.substr(kApiKey.size() - 20)})}, {"rejected", Json::array()}})},
       {"projects", Json::object({{dir_.path(), Json::object({{"hasTrustDialogAccepted", true}})},
                                  {project_, Json::object({{"hasTrustDialogAccepted", true}})}})}});
  write_file(config_dir() + "/.claude.json", settings.dump(2));
}

void HostMachine::script(std::string_view name, Json::Array turns, Json::Array rules) {
  const Json text = Json::object({{"turns", std::move(turns)}, {"rules", std::move(rules)}});
  write_file(dir_ / ("scripts/" + std::string(name) + ".json"), text.dump(1));
}

std::vector<ModelRequest> HostMachine::requests(std::string_view script_name) const {
  std::vector<ModelRequest> found;
  const std::string log = read_text(dir_ / "requests.jsonl");
  for (std::string_view line : lines(log)) {
    const auto entry = Json::parse(line);
    if (!entry.ok()) continue;  // the last line may still be being written
    const Json& value = *entry;
    EXPECT_FALSE(value.has("error")) << value["error"].as_string();
    if (value["script"].as_string() != script_name || !value.has("body") ||
        value["answer"].as_string() == "no tools")
      continue;
    found.push_back({.script = std::string(script_name),
                     .session = std::string(value["session"].as_string()),
                     .text = std::string(value["text"].as_string()),
                     .answer = std::string(value["answer"].as_string()),
                     .body = value["body"]});
  }
  return found;
}

bool HostMachine::wait_for_requests(std::string_view script_name, std::size_t count) const {
  return wait_until([&] { return requests(script_name).size() >= count; }, 20s);
}

std::vector<std::string> HostMachine::environment(std::string_view script_name) const {
  const char* path = std::getenv("PATH");
  return {"PATH=" + std::string(path ? path : "/usr/bin:/bin"),
          "HOME=" + (dir_ / "home"),
          "CLAUDE_CONFIG_DIR=" + config_dir(),
          "CAIRN_HOME=" + cairn_home_,
          "TMPDIR=" + (dir_ / "home"),
          "TERM=xterm-256color",
          "LANG=C.UTF-8",
          "SHELL=/bin/sh",
          "ANTHROPIC_BASE_URL=http://127.0.0.1:" + std::to_string(port_) + "/" + std::string(script_name),
          "ANTHROPIC_API_KEY=" + std::string(kApiKey),
          "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
          "CLAUDE_CODE_MAX_RETRIES=3",
          "DISABLE_TELEMETRY=1",
          "DISABLE_AUTOUPDATER=1",
          "IS_SANDBOX=1"};
}

Outcome HostMachine::run_here(std::vector<std::string> argv, std::string input) const {
  return run({.argv = std::move(argv),
              .env = environment("none"),
              .clean_env = true,
              .cwd = project_,
              .input = std::move(input),
              .timeout = 60s});
}

Program HostMachine::prompt_program(std::string_view script_name, std::string_view text,
                                    std::vector<std::string> flags, std::string_view cwd) const {
  Program program{.argv = {claude_, "-p", "--dangerously-skip-permissions", "--output-format", "stream-json",
                           "--verbose", "--include-hook-events"},
                  .env = environment(script_name),
                  .clean_env = true,
                  .cwd = cwd.empty() ? project_ : std::string(cwd),
                  .timeout = 60s};
  program.argv.insert(program.argv.end(), flags.begin(), flags.end());
  program.argv.emplace_back(text);
  return program;
}

Session HostMachine::read_session(const Outcome& outcome) {
  Session session{.outcome = outcome};
  for (std::string_view line : lines(outcome.out)) {
    const auto parsed = Json::parse(line);
    if (!parsed.ok()) continue;
    const Json& value = *parsed;
    if (auto id = value.text("session_id")) session.id = *id;
    if (value["type"].as_string() == "result") {
      session.result = value["result"].as_string();
      session.failed = value["is_error"].as_bool(true);
    }
    if (value["subtype"].as_string() == "hook_response")
      session.hooks.push_back({.event = std::string(value["hook_event"].as_string()),
                               .out = std::string(value["stdout"].as_string()),
                               .err = std::string(value["stderr"].as_string()),
                               .exit_code = static_cast<int>(value["exit_code"].as_int(-1)),
                               .outcome = std::string(value["outcome"].as_string())});
  }
  return session;
}

Session HostMachine::prompt(std::string_view script_name, std::string_view text,
                            std::vector<std::string> flags, std::string_view cwd) const {
  return read_session(run(prompt_program(script_name, text, std::move(flags), cwd)));
}

Outcome HostMachine::cairn(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), std::string(CAIRN_BIN_DIR) + "/cairn");
  return run_here(std::move(arguments));
}

Json HostMachine::cairn_json(std::vector<std::string> arguments) const {
  arguments.push_back("--json");
  const Outcome outcome = cairn(std::move(arguments));
  auto parsed = Json::parse(outcome.out);
  EXPECT_TRUE(outcome.exit_code == 0 && parsed.ok()) << outcome.describe();
  return parsed.ok() ? std::move(parsed).value() : Json();
}

std::int64_t HostMachine::process_and_check() const {
  const Outcome processed = cairn({"process", "--wait"});
  EXPECT_TRUE(processed.ok()) << processed.describe();
  const Json status = cairn_json({"status"});
  const Json& ledger = status["ledger"];
  EXPECT_EQ(status["inbox"].as_int(-1), 0) << status.dump();
  EXPECT_EQ(status["queue"]["pending"].as_int(-1), 0) << status.dump();
  EXPECT_EQ(ledger["gap"].as_int(-1), 0) << status.dump();
  EXPECT_EQ(ledger["delivered"].as_int(-1), ledger["taken_in"].as_int(-2)) << status.dump();
  return ledger["delivered"].as_int(-1);
}

Json HostMachine::session_row(std::string_view id) const {
  const Json list = cairn_json({"sessions", "list"});
  for (const Json& row : list["sessions"].items())
    for (const auto& [key, value] : row.members())
      if (value.as_string() == id) return row;
  return {};
}

void HostMachine::install_cairn() const {
  const Outcome outcome = cairn({"install", "--host", "claude-code", "--yes"});
  ASSERT_TRUE(outcome.ok()) << "cairn install: " << outcome.describe();
  ASSERT_TRUE(exists(config_dir() + "/settings.json"));
}

std::vector<pid_t> HostMachine::cairn_processes() const {
  return children_free_of(processes_with_env("CAIRN_HOME=" + cairn_home_), "cairn");
}

std::vector<pid_t> HostMachine::daemons() const {
  std::vector<pid_t> found;
  for (pid_t pid : cairn_processes())
    if (read_text("/proc/" + std::to_string(pid) + "/cmdline").find("daemon") != std::string::npos)
      found.push_back(pid);
  return found;
}

void HostMachine::kill_daemon() const {
  const std::vector<pid_t> pids = daemons();
  ASSERT_EQ(pids.size(), 1u) << "there should be one daemon to kill";
  ::kill(pids[0], SIGKILL);
  ASSERT_TRUE(wait_until([&] { return !is_running(pids[0]); }, 5s));
}

Tui::Tui(const HostMachine& machine, std::string_view script_name, std::vector<std::string> flags) {
  socket_ = machine.path("tmux");
  server_ = std::make_unique<Background>(Program{.argv = {"tmux", "-f", "/dev/null", "-S", socket_, "-D"},
                                                 .env = {"TERM=xterm-256color", "LANG=C.UTF-8"}});
  wait_until([&] { return exists(socket_); }, 5s);
  const Program print = machine.prompt_program(script_name, "", std::move(flags));
  std::string command = "exec env -i";
  for (const std::string& entry : print.env) command += " " + quoted(entry);
  const bool plans = std::find(print.argv.begin(), print.argv.end(), "plan") != print.argv.end();
  command += " " + quoted(print.argv[0]) + (plans ? "" : " --dangerously-skip-permissions");
  for (std::size_t i = 7; i + 1 < print.argv.size(); ++i) command += " " + quoted(print.argv[i]);
  const Outcome made = tmux({"new-session", "-d", "-x", "160", "-y", "50", "-c", print.cwd, command});
  EXPECT_TRUE(made.ok()) << made.describe();
  EXPECT_TRUE(shows(plans ? "plan mode on" : "bypass permissions on")) << screen();
}

Tui::~Tui() {
  const pid_t host =
      static_cast<pid_t>(std::atoi(tmux({"display-message", "-p", "#{pane_pid}"}).out.c_str()));
  tmux({"kill-server"});
  server_->wait(5s);
  // A host that lost its terminal still runs its SessionEnd hooks.
  if (host > 0 && !wait_until([&] { return !is_running(host); }, 5s)) ::kill(host, SIGKILL);
}

Outcome Tui::tmux(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {"tmux", "-S", socket_});
  return run({.argv = std::move(arguments), .timeout = 10s});
}

void Tui::enter(std::string_view line) {
  tmux({"send-keys", "-l", std::string(line)});
  shows(line);
  // Enter in the same burst of bytes would be taken as part of a paste.
  tmux({"send-keys", "Enter"});
}

void Tui::key(std::string_view name) {
  tmux({"send-keys", std::string(name)});
}

std::string Tui::screen() const {
  return tmux({"capture-pane", "-p"}).out;
}

bool Tui::shows(std::string_view text, std::chrono::milliseconds timeout) const {
  return wait_until([&] { return screen().find(text) != std::string::npos; }, timeout);
}

void HostTest::SetUp() {
  const std::string problem = machine.start();
  ASSERT_TRUE(problem.empty()) << problem;
  machine.install_cairn();
}

void HostTest::TearDown() {
  EXPECT_LE(machine.daemons().size(), 1u) << "two daemons for one home";
  if (HasFatalFailure() && machine.cairn_processes().empty()) return;
  const Outcome stopped = machine.cairn({"daemon", "stop"});
  EXPECT_TRUE(wait_until([&] { return machine.cairn_processes().empty(); }, 5s))
      << "left running after: " << stopped.describe();
  for (pid_t pid : machine.cairn_processes()) ::kill(pid, SIGKILL);
}

void expect_valid_answer(const Session& session) {
  EXPECT_FALSE(session.hooks.empty()) << session.outcome.describe();
  for (const HookReply& hook : session.hooks) {
    if (hook::rule_of("claude-code", hook.event).answer.empty()) {
      EXPECT_EQ(hook.out, "") << hook.event;
    } else {
      const auto answer = Json::parse(hook.out);
      EXPECT_TRUE(answer.ok() && answer->is_object()) << hook.event << " printed: " << hook.out;
    }
    EXPECT_EQ(hook.exit_code, 0) << hook.event;
    EXPECT_EQ(hook.err, "") << hook.event;
    EXPECT_EQ(hook.outcome, "success") << hook.event;
  }
}

}  // namespace cairn::test
