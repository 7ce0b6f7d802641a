// Each common failure, provoked and named by the doctor.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "system/home_fixture.h"

namespace cairn::test {

class Doctor : public HomeTest {
 protected:
  Doctor() { std::filesystem::create_directories(claude_); }

  Json examine(std::vector<std::string> flags = {}, std::vector<std::string> environment = {}) {
    flags.insert(flags.begin(), {"doctor", "--json"});
    Program doctor = program("cairn", flags);
    doctor.env.insert(doctor.env.end(), environment.begin(), environment.end());
    const Outcome outcome = run(doctor);
    exit_code_ = outcome.exit_code;
    EXPECT_EQ(outcome.err, "");
    auto report = Json::parse(outcome.out);
    EXPECT_TRUE(report.ok()) << outcome.describe();
    return report ? *std::move(report) : Json();
  }

  static Json check(const Json& report, std::string_view group, std::string_view name) {
    for (const Json& each : report["checks"].items())
      if (each["group"].as_string() == group && each["name"].as_string() == name) return each;
    ADD_FAILURE() << "no check " << group << " " << name;
    return {};
  }
  static void expect(const Json& report, std::string_view group, std::string_view name,
                     std::string_view verdict, std::string_view words, std::string_view fix = {}) {
    const Json found = check(report, group, name);
    EXPECT_EQ(found["verdict"].as_string(), verdict) << found.dump();
    EXPECT_NE(found["found"].as_string().find(words), std::string_view::npos) << found.dump();
    if (!fix.empty()) {
      EXPECT_NE(found["fix"].as_string().find(fix), std::string_view::npos) << found.dump();
    }
  }

  // Types the advice of a failed check into a shell; then the home works.
  void apply(const Json& report, std::string_view group, std::string_view name, std::string_view words) {
    expect(report, group, name, "fail", words);
    Program shell = program("cairn", {});
    shell.argv = {"/bin/sh", "-c", std::string(check(report, group, name)["fix"].as_string())};
    shell.env[1] = "PATH=" + bin_ + ":/usr/bin:/bin";
    const Outcome fixed = run(shell);
    EXPECT_EQ(fixed.exit_code, 0) << fixed.describe();
    const Outcome status = cairn({"status"});
    EXPECT_EQ(status.exit_code, 0) << status.describe();
    const Json after = check(examine(), group, name);
    EXPECT_NE(after["verdict"].as_string(), "fail") << after.dump();
  }

  void install() { EXPECT_EQ(cairn({"install"}).exit_code, 0); }
  std::string settings_file() const { return claude_ + "/settings.json"; }
  Json settings() const { return Json::parse(read_text(settings_file())).value_or(Json()); }
  void write_settings(const Json& value) const { write_file(settings_file(), value.dump(2)); }

  const std::string claude_ = dir_ / "user/.claude";
  int exit_code_ = -1;
};

TEST_F(Doctor, StartsTheAgentsToolsAndNamesWhatIsWrongWithThem) {
  install();
  expect(examine(), "Claude Code", "tools", "pass", "need no permission");
  Json less = settings();
  less.set("permissions", Json::object());
  write_settings(less);
  expect(examine(), "Claude Code", "tools", "warn", "ask for a permission", "cairn install");
  install();
  const std::string servers = std::filesystem::path(claude_).parent_path().string() + "/.claude.json";
  const std::string file = exists(servers) ? servers : claude_ + "/.claude.json";
  write_file(file, "{}");
  apply(examine(), "Claude Code", "tools", "not registered");
  write_file(file, R"({"mcpServers":{"cairn":{"command":"/nowhere/cairn","args":["mcp"]}}})");
  apply(examine(), "Claude Code", "tools", "/nowhere/cairn");
}

TEST_F(Doctor, FindsNothingWrongWithAHomeThatWorks) {
  install();
  play_session("aaaaaaaa-0000-4000-8000-000000000001", "Write the notes", "notes.txt");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  const Json report = examine();
  EXPECT_EQ(exit_code_, 0) << report.dump(2);
  EXPECT_TRUE(report["ok"].as_bool());
  expect(report, "Claude Code", "hooks", "pass", "17 events, once each");
  expect(report, "Claude Code", "delivery", "pass", "intact");
  expect(report, "Daemon", "process", "pass", "pid ");
  expect(report, "Daemon", "socket", "pass", "ping ");
  expect(report, "Store", "write", "pass", "rolled back");
  expect(report, "Memory", "ledger", "pass", "5 delivered, 5 read, gap 0");
  expect(report, "Memory", "context", "pass", " bytes, ");
}

TEST_F(Doctor, WritesNothingIntoTheStoreAndStartsNoDaemon) {
  play_session("aaaaaaaa-0000-4000-8000-000000000001", "Write the notes", "notes.txt");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  ASSERT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
  const Json report = examine();
  expect(report, "Daemon", "process", "skip", "not running");
  expect(report, "Store", "write", "pass", "rolled back");
  EXPECT_TRUE(daemons().empty());
  EXPECT_EQ(json({"status"})["ledger"]["delivered"].as_int(), 5);
}

TEST_F(Doctor, ChangesNothingInTheHomeWhileADaemonRuns) {
  play_session("aaaaaaaa-0000-4000-8000-000000000001", "Write the notes", "notes.txt");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  const auto changed = [&] {
    std::string times;
    for (const char* box : {"/tmp", "/new", "/cur", "/bad"}) {
      struct stat info {};
      EXPECT_EQ(stat((home_.inbox() + box).c_str(), &info), 0) << box;
      times += std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + " ";
    }
    return times;
  };
  const std::string before = changed();
  for (int i = 0; i < 5; ++i) expect(examine(), "Home", "writable", "pass", "can be written");
  EXPECT_EQ(changed(), before);
  const Json status = json({"status"});
  EXPECT_EQ(status["ledger"]["delivered"].as_int(), 5);
  EXPECT_EQ(status["problems"].dump(), "[]");
}

TEST_F(Doctor, SkipsWhatIsNotThereYet) {
  std::filesystem::remove_all(dir_ / "user");
  const Json report = examine();
  EXPECT_EQ(exit_code_, 0) << report.dump(2);
  expect(report, "Claude Code", "hooks", "skip", "no Claude Code here");
  expect(report, "Home", "directories", "skip", "first event");
  expect(report, "Store", "file", "skip", "no store yet");
  EXPECT_FALSE(exists(home_.data));
}

TEST_F(Doctor, NamesHooksThatAreNotRegistered) {
  write_settings(Json::object({{"model", "opus"}}));
  const Json report = examine();
  EXPECT_EQ(exit_code_, 1);
  expect(report, "Claude Code", "hooks", "fail", "none of 17 events", "cairn install");
}

TEST_F(Doctor, NamesTheOneEventThatIsMissing) {
  install();
  Json changed = Json::object();
  const Json before = settings();
  for (const auto& [event, groups] : before["hooks"].members())
    if (event != "Stop") changed.set(event, groups);
  write_settings(Json::object({{"hooks", changed}}));
  expect(examine(), "Claude Code", "hooks", "fail", "settings.json: Stop", "cairn install");
  EXPECT_EQ(exit_code_, 1);
}

TEST_F(Doctor, NamesAnEventThatIsRegisteredTwice) {
  install();
  Json changed = settings(), hooks = changed["hooks"], groups = hooks["Stop"];
  groups.push(Json(groups.items()[0]));
  changed.set("hooks", hooks.set("Stop", groups));
  write_settings(changed);
  expect(examine(), "Claude Code", "hooks", "fail", "more than once in", "cairn install");
}

TEST_F(Doctor, NamesTheFileThatSwitchesAllHooksOff) {
  install();
  write_file(project_ + "/.claude/settings.local.json", R"({"disableAllHooks": true})");
  expect(examine(), "Claude Code", "enabled", "fail", "settings.local.json", "disableAllHooks");
}

TEST_F(Doctor, NamesAPluginBesideTheSettings) {
  install();
  write_file(claude_ + "/plugins/installed_plugins.json",
             R"({"version": 2, "plugins": {"cairn@cairn": [{"scope": "user"}]}})");
  const Json report = examine();
  expect(report, "Claude Code", "once", "fail", "registered twice: by the plugin cairn@cairn",
         "claude plugin uninstall cairn@cairn");
  EXPECT_EQ(exit_code_, 1);
}

TEST_F(Doctor, IsContentWithThePluginAlone) {
  write_file(claude_ + "/plugins/installed_plugins.json",
             R"({"version": 2, "plugins": {"cairn@cairn": [{"scope": "user"}]}})");
  expect(examine(), "Claude Code", "program", "fail", ".local/bin/cairn-hook is not there", "./setup");
  std::filesystem::create_directories(dir_ / "user/.local/bin");
  std::filesystem::create_symlink(bin_ + "/cairn-hook", dir_ / "user/.local/bin/cairn-hook");
  const Json report = examine();
  EXPECT_EQ(exit_code_, 0) << report.dump(2);
  expect(report, "Claude Code", "hooks", "pass", "by the plugin cairn@cairn");
  expect(report, "Claude Code", "program", "pass", ".local/bin/cairn-hook");
}

TEST_F(Doctor, NamesAHookProgramThatIsGone) {
  install();
  std::string text = read_text(settings_file());
  for (std::size_t at; (at = text.find(bin_)) != std::string::npos;)
    text.replace(at, bin_.size(), "/nowhere");
  write_file(settings_file(), text);
  const Json report = examine();
  expect(report, "Claude Code", "program", "fail", "/nowhere/cairn-hook is not there", "cairn install");
  expect(report, "Claude Code", "delivery", "fail", "/nowhere/cairn-hook");
}

TEST_F(Doctor, SaysThatEventsWaitForADaemonThatDoesNotRun) {
  hook("Stop", payload("aaaaaaaa-0000-4000-8000-000000000001"));
  ASSERT_TRUE(wait_until([this] { return lock_is_held(); }, 10s));
  ASSERT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
  std::filesystem::copy(home_.key(), home_.inbox() + "/new/" + std::string(32, '1'));
  const Json report = examine();
  expect(report, "Daemon", "process", "warn", "not running, and 1 event is pending", "cairn process");
  expect(report, "Memory", "ledger", "warn", "gap 1", "cairn process");
}

TEST_F(Doctor, NamesASocketThatADeadDaemonLeft) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  ASSERT_EQ(daemons().size(), 1u);
  ::kill(daemons()[0], SIGKILL);
  ASSERT_TRUE(wait_until([this] { return daemons().empty() && !lock_is_held(); }, 5s));
  const Json report = examine();
  expect(report, "Daemon", "process", "skip", "not running");
  expect(report, "Daemon", "socket", "warn", "left over by a daemon that died", "cairn daemon start");
}

TEST_F(Doctor, NamesADaemonThatDoesNotAnswer) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  ASSERT_EQ(daemons().size(), 1u);
  const pid_t pid = daemons()[0];
  ::kill(pid, SIGSTOP);
  const std::string kill = "kill -9 " + std::to_string(pid);
  expect(examine(), "Daemon", "process", "fail", "runs, but does not answer", kill);
  EXPECT_EQ(exit_code_, 1);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"status"}, {"search", "x"}, {"daemon", "status"}, {"daemon", "stop"}}) {
    const Outcome outcome = cairn(command);
    EXPECT_NE(outcome.exit_code, 0) << outcome.describe();
    EXPECT_NE(outcome.err.find(kill), std::string::npos) << outcome.describe();
  }
  EXPECT_EQ(daemons(), std::vector<pid_t>{pid}) << "off a terminal nothing is killed without --yes";
}

TEST_F(Doctor, DaemonStopKillsADaemonThatDoesNotAnswerAfterAsking) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  ASSERT_EQ(daemons().size(), 1u);
  ::kill(daemons()[0], SIGSTOP);
  EXPECT_EQ(cairn({"daemon", "stop"}).exit_code, 2);
  EXPECT_EQ(daemons().size(), 1u);
  const Outcome stopped = cairn({"daemon", "stop", "--yes"});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.describe();
  EXPECT_FALSE(lock_is_held());
  EXPECT_EQ(cairn({"status"}).exit_code, 0);
}

TEST_F(Doctor, NamesAFileInPlaceOfTheHomeAndTheFixWorks) {
  write_file(home_.data, "a file\n");
  apply(examine(), "Home", "directories", home_.data + " is a file, not a directory");
  EXPECT_EQ(read_text(home_.data + ".old"), "a file\n");
}

TEST_F(Doctor, NamesAFileInPlaceOfADirectoryAboveTheHome) {
  const std::string file = dir_ / "disk";
  write_file(file, "");
  Program doctor = program("cairn", {"doctor", "--json"});
  doctor.env[0] = "CAIRN_HOME=" + file + "/cairn";
  const Json report = Json::parse(run(doctor).out).value_or(Json());
  expect(report, "Home", "directories", "fail", file + " is a file, not a directory", "mv " + file);
}

TEST_F(Doctor, NamesADirectoryInPlaceOfTheSocketAndTheFixWorks) {
  std::filesystem::create_directories(home_.socket());
  EXPECT_NE(cairn({"status"}).err.find("daemon.sock is"), std::string::npos);
  apply(examine(), "Home", "directories", home_.socket() + " is a directory, not a socket");
}

TEST_F(Doctor, NamesAFileInPlaceOfTheInboxAndTheFixWorks) {
  write_file(home_.inbox(), "");
  apply(examine(), "Home", "directories", home_.inbox() + " is a file, not a directory");
}

TEST_F(Doctor, NamesABadKeyAndTheFixWorks) {
  write_file(home_.key(), "short");
  const Json report = examine();
  expect(report, "Daemon", "process", "fail", "has 5 bytes instead of 32", "mv ");
  EXPECT_NE(cairn({"status"}).err.find("key has 5 bytes instead of 32"), std::string::npos);
  apply(report, "Home", "key", "has 5 bytes instead of 32");
}

TEST_F(Doctor, NamesAnIncompleteStoreAndTheFixWorks) {
  write_file(home_.database(), "");
  apply(examine(), "Store", "schema", "incomplete");
}

TEST_F(Doctor, NamesAReadOnlyFileSystem) {
  const std::string disk = dir_ / "disk";
  std::filesystem::create_directories(disk + "/home");
  Program doctor = program("cairn", {"doctor", "--json"});
  std::string command = "mount -t tmpfs none " + disk + " && mkdir -m 700 " + disk +
                        "/home && mount -o remount,ro " + disk + " && exec";
  for (const std::string& word : doctor.argv) command += " " + word;
  if (run({.argv = {"/usr/bin/unshare", "-m", "/bin/true"}}).exit_code != 0)
    GTEST_SKIP() << "no file system can be mounted here";
  doctor.argv = {"/usr/bin/unshare", "-m", "/bin/sh", "-c", command};
  doctor.env[0] = "CAIRN_HOME=" + disk + "/home";
  const Outcome outcome = run(doctor);
  const Json report = Json::parse(outcome.out).value_or(Json());
  expect(report, "Home", "writable", "fail", "is on a read-only file system", "remount,rw " + disk);
  expect(report, "Daemon", "process", "fail", "is on a read-only file system", "CAIRN_HOME");
}

TEST_F(Doctor, DoesNotAdviseAnInstallThatCannotWork) {
  install();
  const std::string alone = dir_ / "bin/cairn";
  std::filesystem::create_directories(dir_ / "bin");
  std::filesystem::copy_file(bin_ + "/cairn", alone);
  std::string text = read_text(settings_file());
  for (std::size_t at; (at = text.find(bin_)) != std::string::npos;)
    text.replace(at, bin_.size(), dir_ / "bin");
  write_file(settings_file(), text);
  Program doctor = program("cairn", {"doctor", "--json"});
  doctor.argv[0] = alone;
  const Json report = Json::parse(run(doctor).out).value_or(Json());
  expect(report, "Claude Code", "program", "fail", "cairn-hook is not there", "./setup");
  expect(report, "Claude Code", "delivery", "fail", "cairn-hook", "./setup");
}

TEST_F(Doctor, ChangesNothingInTheHome) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  ASSERT_EQ(daemons().size(), 1u);
  ::kill(daemons()[0], SIGSTOP);  // or it would read the inbox before we do
  const auto before = std::filesystem::last_write_time(home_.inbox() + "/new");
  examine();
  EXPECT_EQ(std::filesystem::last_write_time(home_.inbox() + "/new"), before);
}

TEST_F(Doctor, NamesAStoreThatIsNotADatabase) {
  write_file(home_.database(), std::string(5000, 'x'));
  const Json report = examine();
  EXPECT_EQ(exit_code_, 1);
  expect(report, "Store", "file", "fail", "not a database", "cairn daemon restart");
}

TEST_F(Doctor, NamesABadSetting) {
  write_file(home_.config_file, "[hook]\nsync = \"dsik\"\n");
  expect(examine(), "Home", "settings", "fail", "\"dsik\" is not one of", "cairn config set hook.sync");
  EXPECT_EQ(exit_code_, 1);
}

TEST_F(Doctor, NamesAHomeThatCannotBeWritten) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  ASSERT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
  Program doctor = program("cairn", {"doctor", "--json"});
  if (geteuid() == 0) {
    if (!exists("/usr/bin/setpriv")) GTEST_SKIP() << "root may write everywhere, and there is no setpriv";
    // Another user's home, which everybody may read.
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path()))
      ::chmod(entry.path().c_str(), entry.is_directory() ? 0755 : 0644);
    ::chmod(dir_.path().c_str(), 0755);
    doctor.argv.insert(doctor.argv.begin(),
                       {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
    if (run({.argv = {"/usr/bin/setpriv", "--reuid=65534", "--clear-groups", bin_ + "/cairn", "--version"}})
            .exit_code != 0)
      GTEST_SKIP() << "the programs cannot be run by another user here";
  } else {
    ::chmod(home_.data.c_str(), 0500);
  }
  const Outcome outcome = run(doctor);
  ::chmod(home_.data.c_str(), 0700);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.describe();
  const Json report = Json::parse(outcome.out).value_or(Json());
  expect(report, "Home", "writable", "fail", home_.data + " cannot be written", "chown");
}

TEST_F(Doctor, FixesWhatItCanAndSaysWhatItDid) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  ASSERT_EQ(daemons().size(), 1u);
  ::kill(daemons()[0], SIGKILL);
  ASSERT_TRUE(wait_until([this] { return daemons().empty() && !lock_is_held(); }, 5s));
  std::filesystem::remove_all(home_.inbox());
  ::chmod(home_.data.c_str(), 0755);
  ::chmod(home_.key().c_str(), 0644);
  const Json before = examine();
  EXPECT_EQ(exit_code_, 1);
  expect(before, "Home", "private", "fail", "others may read " + home_.data, "cairn doctor --fix");
  expect(before, "Home", "directories", "warn", "/inbox", "cairn doctor --fix");

  const Json report = examine({"--fix"});
  EXPECT_EQ(exit_code_, 0) << report.dump(2);
  std::string done;
  for (const Json& repair : report["repairs"].items()) {
    EXPECT_TRUE(repair["done"].as_bool()) << repair.dump();
    done += std::string(repair["text"].as_string()) + "\n";
  }
  for (const char* words : {"made ", "closed to other users: ", "registered the hooks", "started the daemon"})
    EXPECT_NE(done.find(words), std::string::npos) << done;
  expect(report, "Claude Code", "hooks", "pass", "17 events");
  expect(report, "Home", "private", "pass", "0700");
  expect(report, "Daemon", "process", "pass", "pid ");
  EXPECT_EQ(examine({"--fix"})["repairs"].items().size(), 0u);
}

TEST_F(Doctor, DoesNotCallAStoreReplacedThatCouldNotBeRebuilt) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  ASSERT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
  std::string bytes = read_text(home_.database());
  bytes.replace(bytes.size() / 2 / 4096 * 4096, 4096, std::string(4096, '\x55'));
  write_file(home_.database(), bytes);
  // No file may grow beyond 32 KB: too little for a new store.
  Program limited = program("cairn", {});
  limited.argv = {"/bin/sh", "-c", "ulimit -f 64; exec " + bin_ + "/cairn doctor --json --fix"};
  const Json report = Json::parse(run(limited).out).value_or(Json());
  std::string done, failed;
  for (const Json& repair : report["repairs"].items())
    (repair["done"].as_bool() ? done : failed) += std::string(repair["text"].as_string()) + "\n";
  EXPECT_EQ(done.find("replaced the damaged store"), std::string::npos) << report.dump(2);
  EXPECT_NE(failed.find("replace the damaged store: "), std::string::npos) << report.dump(2);
  const std::string fixed = examine({"--fix"})["repairs"].dump();
  EXPECT_EQ(exit_code_, 0) << fixed;
}

TEST_F(Doctor, TracesASessionThroughTheRealPipelineAndLeavesNothing) {
  const std::string scratch = dir_ / "scratch";
  std::filesystem::create_directories(scratch);
  install();
  const Json report = examine({"--trace"}, {"TMPDIR=" + scratch});
  EXPECT_EQ(exit_code_, 0) << report.dump(2);
  std::vector<std::string> stages;
  for (const Json& stage : report["trace"].items()) {
    EXPECT_EQ(stage["verdict"].as_string(), "pass") << stage.dump();
    stages.emplace_back(stage["name"].as_string());
  }
  EXPECT_EQ(stages,
            (std::vector<std::string>{"SessionStart", "daemon", "UserPromptSubmit", "PostToolUse", "Stop",
                                      "SessionEnd", "intake", "summary", "next SessionStart", "stop"}));
  EXPECT_TRUE(std::filesystem::is_empty(scratch));
  EXPECT_TRUE(processes_with_env("TMPDIR=" + scratch).empty());
  EXPECT_FALSE(exists(home_.data));
}

TEST_F(Doctor, PrintsOneAlignedLineACheck) {
  write_settings(Json::object());
  const Outcome outcome = cairn({"doctor"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.out.find("\n  FAIL  hooks              none of 17 events"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("\n                           fix: cairn install\n"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
}

}  // namespace cairn::test
