#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "base/time.h"
#include "cli/command.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/socket.h"
#include "store/sql.h"
#include "system/cli_home.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

class Cli : public CliHome {};

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  for (const std::string_view word : split(name, ' ')) words.emplace_back(word);
  return words;
}

void append(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "ae");
  ASSERT_TRUE(file);
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

TEST_F(Cli, ExplainsEveryCommandWithoutADaemon) {
  for (const cli::Command& command : cli::all_commands()) {
    std::vector<std::string> arguments = words_of(command.name);
    arguments.emplace_back("--help");
    const Outcome outcome = cairn(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    EXPECT_NE(outcome.out.find(command.operation->summary), std::string::npos) << command.name;
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_EQ(cairn({}).exit_code, 0);
  EXPECT_EQ(cairn({"--version"}).out, "cairn " CAIRN_VERSION "\n");
  EXPECT_FALSE(exists(home()));
}

TEST_F(Cli, RefusesBadUsageWithExitCode2AndOneLine) {
  const std::vector<std::vector<std::string>> bad = {{"statsu"},
                                                     {"daemon"},
                                                     {"sessions", "list", "--limit", "x"},
                                                     {"sessions", "list", "--limit", "-1"},
                                                     {"search", "x", "--kind", "foo"},
                                                     {"search", "x", "--type", "weird"},
                                                     {"search", "x", "--since", "someday"},
                                                     {"queue", "list", "--status", "lost"},
                                                     {"config", "set", "log.max_mb", "-5"},
                                                     {"show"},
                                                     {"status", "--frob"},
                                                     {"config", "get", "a"},
                                                     {"config", "set", "log.level", "loud"},
                                                     {"install", "--host", "emacs"},
                                                     {"help", "nothing"},
                                                     {"context", "--all"},
                                                     {"logs", "-n", "-5"},
                                                     {"status", "--all", "--project", "x"}};
  for (const auto& arguments : bad) {
    const Outcome outcome = cairn(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.describe();
    EXPECT_EQ(outcome.out, "") << outcome.describe();
    EXPECT_EQ(outcome.err.substr(0, 7), "cairn: ") << outcome.describe();
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  EXPECT_EQ(cairn({"statsu"}).err, "cairn: unknown command \"statsu\": did you mean \"status\"?\n");
  EXPECT_NE(cairn({"config", "set", "log.max_mb", "-5"}).err.find("log.max_mb: -5 is not"),
            std::string::npos);
}

TEST_F(Cli, PrintsOneJsonValueWhateverGoesWrong) {
  const std::vector<std::pair<std::vector<std::string>, int>> lines = {{{"statsu"}, 2},
                                                                       {{"daemon", "status"}, 3},
                                                                       {{"sessions", "list"}, 3},
                                                                       {{"sessions"}, 3},
                                                                       {{"search", "nothing"}, 3},
                                                                       {{"context"}, 3},
                                                                       {{"show", "S99"}, 3},
                                                                       {{"show"}, 2},
                                                                       {{"queue", "show", "99"}, 3},
                                                                       {{"search", "--kind", "foo"}, 2},
                                                                       {{"config", "get", "a"}, 2},
                                                                       {{"queue", "abort", "1"}, 2}};
  for (auto [arguments, code] : lines) {
    arguments.emplace_back("--json");
    const Outcome outcome = cairn(arguments);
    EXPECT_EQ(outcome.exit_code, code) << outcome.describe();
    EXPECT_TRUE(Json::parse(outcome.out).ok()) << outcome.describe();
    const bool bad = (*Json::parse(outcome.out))["error"]["code"].as_string() == "invalid";
    EXPECT_EQ(bad, code == 2) << outcome.out;
  }
  play_session();
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  const Outcome found = cairn({"search", "unheardof", "--json"});
  EXPECT_EQ(found.exit_code, 3);
  EXPECT_TRUE((*Json::parse(found.out))["results"].items().empty()) << found.out;
}

TEST_F(Cli, ShowsTheRecordsThatExistAndNamesTheOthers) {
  play_session();
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  const Outcome some = cairn({"show", "S1", "S98", "P1", "O99"});
  EXPECT_EQ(some.exit_code, 1) << some.describe();
  EXPECT_NE(some.out.find("Request"), std::string::npos);
  EXPECT_EQ(some.err, "cairn: show: there is no S98, O99\n");
  const Outcome json = cairn({"show", "S1", "S98", "--json"});
  EXPECT_EQ((*Json::parse(json.out))["missing"].dump(), R"(["S98"])");
  EXPECT_EQ(cairn({"show", "S98", "S99"}).exit_code, 3);
}

TEST_F(Cli, RefusesAnArgumentInTheSameWordsAsTheSocketDoes) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  const auto socket = os::connect_unix(home() + "/daemon.sock", 5000);
  ASSERT_TRUE(socket.ok());
  os::RealClock clock;
  const auto ask = [&](const std::string& op, const std::string& args) {
    const std::string line = "{\"v\":1,\"op\":\"" + op + "\",\"args\":" + args + "}\n";
    EXPECT_TRUE(os::send_all(socket->get(), line, clock.boot_ns() + 5'000'000'000).ok());
    std::string rest;
    auto reply = os::read_line(socket->get(), rest, 1 << 20, clock.boot_ns() + 30'000'000'000);
    const auto value = Json::parse(std::move(reply).value_or(""));
    return value ? "cairn: " + std::string((*value)["error"]["message"].as_string()) + "\n" : "no reply";
  };
  // A command line names the argument as it was typed.
  const auto typed = [](std::string message, const std::string& name, const std::string& as) {
    const std::size_t at = message.find(name);
    return at == std::string::npos ? message : message.replace(at, name.size(), as);
  };
  EXPECT_EQ(typed(ask("search", R"({"all":true,"limit":"x"})"), "limit", "--limit"),
            cairn({"search", "--all", "--limit", "x"}).err);
  EXPECT_EQ(typed(ask("search", R"({"all":true,"host":"foo"})"), "host", "--host"),
            cairn({"search", "--all", "--host", "foo"}).err);
  EXPECT_EQ(ask("search", R"({"all":true,"type":"weird"})"),
            cairn({"search", "--all", "--type", "weird"}).err)
      << "only the daemon knows the types";
  EXPECT_EQ(typed(ask("show", "{}"), "ids", "ID"), cairn({"show"}).err);
  EXPECT_EQ(typed(ask("status", R"({"frob":1})"), "frob", "--frob"), cairn({"status", "--frob"}).err);
  EXPECT_EQ(typed(ask("process", R"({"wait":"yes"})"), "wait", "--wait"),
            cairn({"process", "--wait=yes"}).err);
}

TEST_F(Cli, StartsNoDaemonForALineThatItRefuses) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"process", "--wait=yes"},
                                             {"agent", "test", "--provider", "nobody"},
                                             {"save", "--file", "a", "text"},
                                             {"resume", "--brief", "1"},
                                             {"edit", "X1"},
                                             {"import", "--store", ""},
                                             {"forget"},
                                             {"status", "hunter2"}}) {
    const Outcome outcome = cairn(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.describe();
    EXPECT_EQ(outcome.err.find("hunter2"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(cairn({"daemon", "status"}).exit_code, 3) << "none was started";
}

TEST_F(Cli, RefusesAHomeThatIsNoPath) {
  const Outcome outcome = call("/usr/bin/env", {"CAIRN_HOME=not/absolute", kCairn, "status"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("CAIRN_HOME"), std::string::npos);
}

TEST_F(Cli, ReportsTheShapeThatChecksReadInStatus) {
  const Json status = json({"status"});
  EXPECT_GT(status["daemon"]["pid"].as_int(), 0);
  EXPECT_TRUE(status["daemon"]["uptime_s"].is_int());
  EXPECT_EQ(status["daemon"]["version"].as_string(), CAIRN_VERSION);
  for (const char* key : {"pending", "processing", "processed", "failed"})
    EXPECT_TRUE(status["queue"][key].is_int()) << key;
  for (const char* key : {"delivered", "taken_in", "recovered", "gap"})
    EXPECT_TRUE(status["ledger"][key].is_int()) << key;
  EXPECT_TRUE(status["inbox"].is_int());
  EXPECT_TRUE(status["sessions"].is_int());
  EXPECT_TRUE(status["problems"].is_array());
  const Outcome page = cairn({"status"});
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_NE(page.out.find("running"), std::string::npos);
  EXPECT_EQ(page.out.find('\x1b'), std::string::npos) << "colours belong on a terminal";
}

TEST_F(Cli, ShowsASessionFromItsHooksToItsSummary) {
  play_session();
  const Json processed = json({"process", "--wait"});
  EXPECT_EQ(processed["inbox"].as_int(-1), 0);
  EXPECT_EQ(processed["queue"]["pending"].as_int(-1), 0);

  const Json listed = json({"sessions", "list"});
  ASSERT_EQ(listed["sessions"].items().size(), 1u) << listed.dump(2);
  const Json& row = listed["sessions"].items()[0];
  EXPECT_EQ(row["content_session_id"].as_string(), "11111111-2222-4333-8444-555555555555");
  EXPECT_EQ(row["status"].as_string(), "completed");
  EXPECT_EQ(row["project"].as_string(), "proj");

  const Json session = json({"sessions", "show", "1111", "--events"});
  EXPECT_EQ(session["state"].as_string(), "CAPTURED");
  EXPECT_NE(session["memory_session_id"].as_string(), session["content_session_id"].as_string());
  EXPECT_EQ(session["events"].items().size(), 5u) << session["events"].dump(1);
  ASSERT_EQ(session["turns"].items().size(), 1u);
  const std::string summary(session["turns"].items()[0]["summary"].as_string());
  ASSERT_FALSE(summary.empty());

  const Json records = json({"show", summary, "P1"});
  ASSERT_EQ(records["records"].items().size(), 2u);
  EXPECT_NE(records["records"].items()[0]["request"].as_string().find("lexer"), std::string_view::npos);
  EXPECT_NE(records["records"].items()[1]["text"].as_string().find("記憶"), std::string_view::npos);

  const Json stats = json({"queue", "stats"});
  EXPECT_EQ(stats["pending"].as_int(-1), 0);
  const Json status = json({"status"});
  EXPECT_EQ(status["ledger"]["delivered"].as_int(), 5);
  EXPECT_EQ(status["ledger"]["gap"].as_int(-1), 0);

  const Json context = json({"context"});
  EXPECT_EQ(cairn({"context"}).out, std::string(context["text"].as_string()) + "\n");
  EXPECT_NE(context["text"].as_string().find("lexer"), std::string_view::npos);
}

TEST_F(Cli, RendersEveryPageOfASessionForAPipe) {
  play_session();
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  const std::vector<std::pair<std::vector<std::string>, std::string>> pages = {
      {{"sessions", "list"}, "Fix the lexer"},
      {{"sessions", "list", "--all"}, "proj"},
      {{"sessions", "show", "1", "--events"}, "PostToolUse"},
      {{"show", "S1"}, "Request"},
      {{"queue", "list", "--status", "processed"}, "processed"},
      {{"queue", "show", "1"}, "Edit"},
      {{"queue", "stats"}, "pending"},
      {{"debug", "sql"}, "orphans"},
      {{"debug", "sql", "recent-sessions"}, "content_session_id"},
      {{"debug", "sql", "ids", "11111111-2222-4333-8444-555555555555"}, "CAPTURED"},
      {{"sessions", "end", "1"}, "had ended before"},
      {{"logs"}, "daemon serves"}};
  for (const auto& [arguments, expected] : pages) {
    const Outcome outcome = cairn(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    EXPECT_NE(outcome.out.find(expected), std::string::npos) << outcome.describe();
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
  }
}

TEST_F(Cli, UsesWordsThatPeopleKnow) {
  play_session();
  deliver("UserPromptSubmit", Json::object({{"prompt", "one that goes on"}, {"prompt_id", "p-2"}}),
          "still-open");
  ASSERT_EQ(cairn({"process"}).exit_code, 0);
  EXPECT_EQ(cairn({"sessions", "cleanup", "--max-age", "0"}).out,
            "Marked 1 old active sessions as interrupted\n");
  const std::string list = cairn({"sessions", "list"}).out;
  EXPECT_NE(list.find("interrupted"), std::string::npos) << list;
  EXPECT_EQ(list.find("CAPTURED"), std::string::npos) << list;
  EXPECT_EQ(list.find("failed"), std::string::npos) << list;
  EXPECT_NE(cairn({"sessions", "show", "1"}).out.find("CAPTURED"), std::string::npos);
  const Json rows = json({"sessions", "list"})["sessions"];
  EXPECT_EQ(rows.items()[0]["status"].as_string(), "failed") << "JSON keeps its values";
  EXPECT_NE(cairn({"status"}).out.find("delivered = "), std::string::npos);
}

TEST_F(Cli, SaysWithExitCode3WhatIsNotThere) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"context"},
                                             {"sessions", "list"},
                                             {"show", "S99"},
                                             {"sessions", "show", "77"},
                                             {"queue", "show", "99"},
                                             {"sessions", "list", "--project", "nowhere"}}) {
    const Outcome outcome = cairn(arguments);
    EXPECT_EQ(outcome.exit_code, 3) << outcome.describe();
    EXPECT_EQ(outcome.err.substr(0, 7), "cairn: ");
  }
  EXPECT_EQ(cairn({"show", "X1"}).exit_code, 2);
  EXPECT_EQ(cairn({"queue", "show", "one"}).exit_code, 2);
  EXPECT_EQ(cairn({"queue", "list", "--status", "lost"}).exit_code, 2);
}

TEST_F(Cli, StartsStopsAndRestartsOneDaemonWithoutLosingData) {
  EXPECT_EQ(cairn({"daemon", "status"}).exit_code, 3);
  EXPECT_FALSE(exists(home())) << "asking starts nothing";
  const Json started = json({"daemon", "start"});
  EXPECT_TRUE(started["started"].as_bool());
  const auto pid = static_cast<pid_t>(started["pid"].as_int());
  EXPECT_TRUE(is_running(pid));
  const Json again = json({"daemon", "start"});
  EXPECT_FALSE(again["started"].as_bool(true));
  EXPECT_EQ(again["pid"].as_int(), pid);
  EXPECT_EQ(json({"daemon", "status"})["pid"].as_int(), pid);

  play_session();
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  const Json restarted = json({"daemon", "restart"});
  EXPECT_NE(restarted["pid"].as_int(), pid);
  EXPECT_FALSE(is_running(pid));
  EXPECT_EQ(json({"sessions", "list"})["sessions"].items().size(), 1u);

  EXPECT_TRUE(json({"daemon", "stop"})["stopped"].as_bool());
  EXPECT_FALSE(json({"daemon", "stop"})["stopped"].as_bool(true));
  EXPECT_EQ(cairn({"daemon", "status"}).exit_code, 3);
  EXPECT_EQ(processes_with_env("CAIRN_HOME=" + home()).size(), 0u);
}

// A daemon of another version: answers every request with it, and lets go of its lock when it is asked to
// stop.
void serve_as(const std::string& home, std::string_view version, std::atomic<bool>& ready) {
  auto lock = os::FileLock::acquire(home + "/daemon.lock");
  auto listener = os::listen_unix(home + "/daemon.sock");
  ready = true;
  ASSERT_TRUE(lock.ok() && listener.ok());
  os::RealClock clock;
  for (bool stop = false; !stop;) {
    pollfd p{listener->get(), POLLIN, 0};
    ASSERT_EQ(poll(&p, 1, 30'000), 1) << "nobody asked it to stop";
    os::Fd peer(accept(listener->get(), nullptr, nullptr));
    std::string rest;
    for (;;) {
      const auto line = os::read_line(peer.get(), rest, 1 << 20, clock.boot_ns() + 300'000'000);
      if (!line.ok()) break;
      stop = stop || line->find("\"stop\"") != std::string::npos;
      const Json reply = Json::object({{"v", 1},
                                       {"ok", true},
                                       {"version", version},
                                       {"result", Json::object({{"pid", 1}, {"version", version}})}});
      ASSERT_TRUE(os::send_all(peer.get(), reply.dump() + "\n", clock.boot_ns() + 5'000'000'000).ok());
      if (stop) break;
    }
  }
}

TEST_F(Cli, ReplacesADaemonOfAnotherVersion) {
  std::filesystem::create_directories(home());
  std::atomic<bool> ready = false;
  std::thread old([&] { serve_as(home(), "0.0.9", ready); });
  ASSERT_TRUE(wait_until([&] { return ready.load(); }, 10s));
  EXPECT_EQ(json({"daemon", "status"})["version"].as_string(), "0.0.9") << "asking replaces nothing";
  const Json status = json({"status"});
  EXPECT_EQ(status["daemon"]["version"].as_string(), CAIRN_VERSION);
  old.join();
}

TEST_F(Cli, SaysWhyTheDaemonCannotServe) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  ASSERT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
  {
    store::Db::Options options;
    options.path = home() + "/cairn.db";
    auto db = store::Db::open(options);
    ASSERT_TRUE(db.ok()) << db.error().message;
    ASSERT_TRUE(
        db->exec("INSERT INTO schema_migrations(version, name, hash, applied_at) "
                 "VALUES (9999, 'of a newer cairn', '', '')"));
  }
  const std::string before = read_text(home() + "/cairn.db");
  const Outcome outcome = cairn({"status"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.describe();
  EXPECT_NE(outcome.err.find("install the newer cairn"), std::string::npos) << outcome.err;
  EXPECT_TRUE(read_text(home() + "/cairn.db") == before) << "it is unchanged";
  for (const auto& entry : std::filesystem::directory_iterator(home()))
    EXPECT_EQ(entry.path().string().find("damaged"), std::string::npos) << entry.path();
  EXPECT_NE(cairn({"logs"}).out.find("cannot serve"), std::string::npos);
}

TEST_F(Cli, ServesInTheForegroundAndASecondOneExits) {
  Background daemon({.argv = {kCairn, "daemon", "run"}, .env = environment(), .clean_env = true});
  ASSERT_TRUE(wait_until([&] { return cairn({"daemon", "status"}).exit_code == 0; }, 20s));
  const Outcome second = cairn({"daemon", "run"});
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_NE(second.err.find("another one"), std::string::npos);
  EXPECT_EQ(json({"daemon", "status"})["pid"].as_int(), daemon.pid());
  daemon.signal(SIGTERM);
  const auto ended = daemon.wait(20s);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 0) << ended->describe();
}

TEST_F(Cli, SetsASettingAndSaysWhereItComesFrom) {
  EXPECT_EQ(json({"config", "get", "log.level"})["origin"].as_string(), "default");
  const Outcome set = cairn({"config", "set", "log.level", "debug"});
  EXPECT_EQ(set.exit_code, 0) << set.describe();
  const Json value = json({"config", "get", "log.level"});
  EXPECT_EQ(value["value"].as_string(), "debug");
  EXPECT_EQ(value["origin"].as_string(), "config.toml");
  EXPECT_EQ(cairn({"config", "get", "log.level"}).out,
            "log.level = \"debug\"  # config.toml, default \"info\"\n");
  EXPECT_EQ(cairn({"config", "validate"}).exit_code, 0);

  const Json list = json({"config", "list"});
  bool found = false;
  for (const Json& setting : list["settings"].items()) {
    EXPECT_FALSE(setting["meaning"].as_string().empty());
    found = found || setting["key"].as_string() == "context.budget_tokens";
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(cairn({"config", "list"}).exit_code, 0);
  EXPECT_FALSE(exists(home() + "/daemon.lock")) << "settings need no daemon";

  for (const std::string name : {"log.level", "agent.mode"}) {
    const std::size_t dot = name.find('.');
    write_file(home() + "/config.toml",
               "[" + name.substr(0, dot) + "]\n" + name.substr(dot + 1) + " = \"loud\"\n");
    const Outcome bad = cairn({"config", "validate"});
    EXPECT_EQ(bad.exit_code, 2);
    EXPECT_NE(bad.err.find(name), std::string::npos);
  }
}

TEST_F(Cli, AppliesAChangedSettingToARunningDaemon) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  ASSERT_EQ(cairn({"config", "set", "capture.enabled", "false"}).exit_code, 0);
  const auto is_reported = [&] {
    const Json status = json({"status"});
    for (const Json& problem : status["problems"].items())
      if (problem.as_string().find("capture is off") != std::string_view::npos) return true;
    return false;
  };
  EXPECT_TRUE(wait_until(is_reported, 10s));
}

TEST_F(Cli, ShowsWhatAnEventWouldBecomeAndStoresNothing) {
  const std::string payload = Json::object({{"session_id", "abcd"},
                                            {"cwd", project()},
                                            {"hook_event_name", "UserPromptSubmit"},
                                            {"prompt", "hello <private>my secret</private> world"}})
                                  .dump();
  const Outcome outcome = cairn({"hook", "UserPromptSubmit", "--dry-run", "--json"}, payload);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.describe();
  const auto report = Json::parse(outcome.out);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ((*report)["event"]["outcome"].as_string(), "stored");
  EXPECT_EQ((*report)["event"]["session"].as_string(), "abcd");
  EXPECT_EQ((*report)["event"]["project"].as_string(), "proj");
  EXPECT_TRUE((*report)["event"]["redacted"].as_bool());
  EXPECT_EQ(outcome.out.find("my secret"), std::string::npos);
  EXPECT_TRUE((*report)["answer"]["continue"].as_bool());

  const Outcome page = cairn({"hook", "UserPromptSubmit", "--dry-run"}, payload);
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_NE(page.out.find("Would be stored"), std::string::npos);
  EXPECT_EQ(page.out.find("my secret"), std::string::npos);
  EXPECT_EQ(cairn({"hook", "Stop", "--dry-run"}, "not JSON").exit_code, 2);
  EXPECT_FALSE(exists(home())) << "a dry run leaves nothing behind";
}

TEST_F(Cli, SaysWhichRuleKeepsAnEventOut) {
  ASSERT_EQ(cairn({"config", "set", "capture.skip_tools", "Read"}).exit_code, 0);
  const std::string payload =
      Json::object({{"session_id", "abcd"}, {"cwd", project()}, {"tool_name", "Read"}, {"tool_use_id", "t"}})
          .dump();
  const Outcome outcome = cairn({"hook", "PostToolUse", "--dry-run", "--json"}, payload);
  const auto report = Json::parse(outcome.out);
  ASSERT_TRUE(report.ok()) << outcome.describe();
  EXPECT_EQ((*report)["event"]["outcome"].as_string(), "skipped");
  EXPECT_NE((*report)["event"]["reason"].as_string().find("capture.skip_tools"), std::string_view::npos);
  EXPECT_FALSE((*report)["event"].has("fields"));
}

TEST_F(Cli, ShowsADryRunTheContextOfADaemonThatRuns) {
  play_session();
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  const std::string payload = Json::object({{"session_id", "efgh"},
                                            {"cwd", project()},
                                            {"source", "startup"},
                                            {"hook_event_name", "SessionStart"}})
                                  .dump();
  const Outcome outcome = cairn({"hook", "SessionStart", "--dry-run", "--json"}, payload);
  const auto report = Json::parse(outcome.out);
  ASSERT_TRUE(report.ok()) << outcome.describe();
  EXPECT_NE((*report)["answer"]["hookSpecificOutput"]["additionalContext"].as_string().find("lexer"),
            std::string_view::npos);
  EXPECT_EQ(json({"sessions", "list", "--all"})["sessions"].items().size(), 1u);
}

TEST_F(Cli, DeliversThroughTheBigProgramAsTheHookDoes) {
  const std::string payload =
      Json::object({{"session_id", "abcd"}, {"cwd", project()}, {"prompt", "hi"}}).dump();
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"hook", "Stop"}, {"hook", "Stop", "--unknown", "x"}, {"hook"}}) {
    const Outcome outcome = cairn(arguments, payload);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    EXPECT_EQ(outcome.out, "{\"continue\": true, \"suppressOutput\": true}\n");
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_EQ(json({"process"})["inbox"].as_int(-1), 0);
  EXPECT_EQ(json({"status"})["ledger"]["delivered"].as_int(), 3);
}

TEST_F(Cli, FollowsTheLogAcrossItsRotation) {
  const std::string log = home() + "/logs/daemon.log";
  write_file(log, "one\ntwo\nthree\n");
  EXPECT_EQ(cairn({"logs", "-n", "2"}).out, "two\nthree\n");
  EXPECT_EQ(cairn({"logs", "-n", "0"}).out, "");
  Background follower({.argv = {kCairn, "logs", "-f", "-n", "1"}, .env = environment(), .clean_env = true});
  ASSERT_TRUE(wait_until([&] { return follower.out() == "three\n"; }, 10s)) << follower.out();
  std::filesystem::rename(log, log + ".1");
  append(log + ".1", "four\n");
  write_file(log, "five\n");
  ASSERT_TRUE(wait_until([&] { return follower.out() == "three\nfour\nfive\n"; }, 10s)) << follower.out();
}

TEST_F(Cli, EndsSilentlyWhenItsReaderIsGone) {
  const Outcome outcome =
      call("/bin/sh", {"-c", "'" + kCairn + "' help | head -n 1; '" + kCairn + "' config list | true"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
  EXPECT_EQ(outcome.err, "");
  const Outcome full = call("/bin/sh", {"-c", "'" + kCairn + "' help > /dev/full"});
  EXPECT_EQ(full.exit_code, 1) << full.describe();
  EXPECT_EQ(full.err.substr(0, 15), "cairn: output: ");
}

TEST_F(Cli, KeepsItsHomeToItself) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  ASSERT_EQ(cairn({"config", "set", "log.level", "info"}).exit_code, 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home())) {
    struct stat there {};
    if (lstat(entry.path().c_str(), &there) != 0) continue;
    EXPECT_EQ(there.st_mode & 077, 0u) << entry.path();
  }
}

#ifndef CAIRN_SANITIZED
TEST_F(Cli, NeedsOnlyTheBasicLibraries) {
  const Outcome dynamic = call("readelf", {"-d", kCairn});
  ASSERT_EQ(dynamic.exit_code, 0) << dynamic.describe();
  for (const std::string_view line : lines(dynamic.out)) {
    const std::size_t at = line.find("[lib");
    if (line.find("(NEEDED)") == std::string_view::npos || at == std::string_view::npos) continue;
    const std::string_view name = line.substr(at + 1, line.find(']', at) - at - 1);
    const std::string_view base = name.substr(0, name.find(".so"));
    EXPECT_TRUE(base == "libc" || base == "libm" || base == "libstdc++" || base == "libgcc_s") << name;
  }
  const Outcome hook = call("readelf", {"-l", kHook});
  ASSERT_EQ(hook.exit_code, 0) << hook.describe();
  EXPECT_EQ(hook.out.find("INTERP"), std::string::npos) << "cairn-hook must be static";
}
#endif

}  // namespace
}  // namespace cairn::test
