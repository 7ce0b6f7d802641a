// Files that cannot be read: quarantined, redacted and counted; they block no others.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/ids.h"
#include "ops/operation.h"
#include "os/crash.h"
#include "support/engine_fixture.h"
#include "support/temp_dir.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;

class BadFiles : public testing::Test {
 protected:
  BadFiles() { must(m.open()); }

  std::string path(const std::string& box, const std::string& name) {
    return m.home.inbox() + "/" + box + "/" + name;
  }
  // The bytes of a delivered event; the file itself is gone.
  std::string bytes_of(const HookCall& call) {
    const EventId id = m.deliver(call);
    m.delivered.pop_back();
    std::string bytes = m.read(path("new", id.value));
    must(m.disk.remove(path("new", id.value)));
    return bytes;
  }
  std::string put(const std::string& box, std::string_view bytes, const std::string& suffix = "") {
    const std::string id = random_hex(16);
    m.put_file(path(box, id + suffix), bytes);
    return id;
  }
  std::int64_t count(const std::string& outcome) {
    return m.number("SELECT count(*) FROM events WHERE outcome = '" + outcome + "'");
  }
  // No file in bad/ shows what was private.
  void expect_redacted() {
    for (const std::string& name : m.files("bad"))
      EXPECT_EQ(m.read(path("bad", name)).find("zebra"), std::string::npos) << m.read(path("bad", name));
  }

  Machine m;
  Chat chat;
};

TEST_F(BadFiles, AFlippedByteAnywhereIsFoundAndAffectsNoOtherFile) {
  const std::string good = bytes_of(chat.prompt("a wish: <private>zebra</private>!"));
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x11);
    put("new", bad);
  }
  const EventId fine = m.deliver(chat.ran("make", "t1"));
  must(m.drain());
  EXPECT_EQ(count("bad"), static_cast<std::int64_t>(good.size()));
  EXPECT_EQ(m.files("bad").size(), good.size());
  EXPECT_EQ(m.text("SELECT outcome FROM events WHERE event_id = '" + fine.value + "'"), "stored");
  EXPECT_EQ(must(m.engine->waiting()), 0u);
  expect_redacted();
}

TEST_F(BadFiles, AFileCutShortAnywhereIsFound) {
  const std::string good = bytes_of(chat.prompt("a wish: <private>zebra</private>!"));
  for (std::size_t size = 0; size < good.size(); ++size) put("new", std::string_view(good).substr(0, size));
  put("new", good + "x");
  must(m.drain());
  EXPECT_EQ(count("bad"), static_cast<std::int64_t>(good.size()) + 1);
  EXPECT_EQ(m.files("bad").size(), good.size() + 1);
  EXPECT_EQ(count("stored"), 0);
  expect_redacted();
}

TEST_F(BadFiles, AnotherFormatIsQuarantinedWithItsReason) {
  std::string newer = bytes_of(chat.start());
  newer.replace(0, 6, "cairn2");
  const std::string id = put("new", newer);
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT name, outcome, reason FROM events"),
            (Lines{"unknown|bad|inbox file: not a format this version knows"}));
  EXPECT_EQ(m.read(path("bad", id)), newer);
  newer = bytes_of(chat.prompt("a wish: <private>zebra</private>!"));
  newer.replace(0, 6, "cairn2");
  put("new", newer);
  must(m.drain());
  EXPECT_EQ(m.files("bad").size(), 2u);
  expect_redacted();
}

TEST_F(BadFiles, ForeignNamesAreIgnoredAndBlockNothing) {
  for (const char* name : {"README", ".hidden", "0123", "ABCDEF0123456789ABCDEF0123456789"})
    m.put_file(path("new", name), "not ours");
  m.deliver(chat.start());
  must(m.drain());
  EXPECT_EQ(count("stored"), 1);
  EXPECT_EQ(count("bad"), 0);
  EXPECT_EQ(m.files("new").size(), 4u);
  EXPECT_EQ(must(m.engine->waiting()), 0u);
}

TEST_F(BadFiles, TheSameFileTwiceIsStoredOnce) {
  const EventId id = m.deliver(chat.start());
  const std::string bytes = m.read(path("new", id.value));
  must(m.drain());
  m.put_file(path("new", id.value), bytes);  // the unlink was lost
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(*) FROM events"), 1);
  EXPECT_EQ(must(m.engine->waiting()), 0u);
}

TEST_F(BadFiles, FilesThatADeadDaemonLeftInCurAreReadAtTheNextStart) {
  const std::string first = put("cur", bytes_of(chat.prompt("left behind")));
  must(m.open());
  must(m.drain());
  EXPECT_EQ(m.text("SELECT outcome FROM events WHERE event_id = '" + first + "'"), "stored");
  EXPECT_EQ(m.text("SELECT prompt_text FROM user_prompts"), "left behind");
  EXPECT_EQ(m.files("cur"), Lines{});
}

TEST_F(BadFiles, AFileThatCrashedTheDaemonIsQuarantined) {
  const std::string id = put("cur", bytes_of(chat.prompt("bad one <private>zebra</private>")), ".crashed");
  const std::string harmless = put("cur", bytes_of(chat.ran("make", "t1")));
  must(m.open());
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT outcome, reason FROM events WHERE event_id = '" + id + "'"),
            (Lines{"bad|reading it crashed the daemon"}));
  EXPECT_EQ(m.text("SELECT outcome FROM events WHERE event_id = '" + harmless + "'"), "stored");
  EXPECT_EQ(m.files("bad"), (Lines{id}));
  EXPECT_EQ(m.files("cur"), Lines{});
  EXPECT_NE(m.read(path("bad", id)).find("bad one"), std::string::npos);
  expect_redacted();
}

// The daemon dies `deaths` times while the file has its mark.
TEST_F(BadFiles, AFileIsQuarantinedOnlyAfterFiveUnexplainedDeaths) {
  for (const int deaths : {4, 5}) {
    const std::string id = put("cur", bytes_of(chat.ran("make", "t" + std::to_string(deaths))));
    for (int i = 0; i < deaths; ++i) {
      m.close();
      m.disk.on_call([&](std::string_view op, std::string_view file) {
        if (op == "read" && file.find(id + ".") != std::string_view::npos) m.disk.halt();
      });
      ignore(m.open());
      if (m.engine) ignore(m.drain());
      m.close();
      m.disk.on_call(nullptr);
      m.disk.crash();
    }
    must(m.open());
    must(m.drain());
    EXPECT_EQ(m.rows("SELECT outcome, reason FROM events WHERE event_id = '" + id + "'"),
              (Lines{deaths < 5 ? "stored|-" : "bad|reading it ended the daemon 5 times"}));
  }
}

TEST_F(BadFiles, AFileThatKillsTheDaemonWhileItIsRedactedKeepsNoText) {
  const std::string id = put("cur", bytes_of(chat.prompt("bad one")), ".aside");
  must(m.open());
  must(m.drain());
  EXPECT_EQ(count("bad"), 1);
  EXPECT_EQ(m.read(path("bad", id)), "");
  EXPECT_EQ(m.files("cur"), Lines{});
}

TEST_F(BadFiles, AFileThatCannotBeQuarantinedYetIsKeptWhole) {
  const std::string bytes = bytes_of(chat.prompt("bad one"));
  const std::string id = put("cur", bytes, ".crashed");
  m.close();
  for (std::uint64_t k = 1; m.files("bad").empty(); ++k) {
    m.disk.fail_at(k, ENOSPC, SimDisk::Calls::changing);
    if (m.open()) ignore(m.drain());
    m.close();
    m.disk.clear_faults();
    ASSERT_LT(k, 500u);
  }
  must(m.open());
  EXPECT_EQ(m.read(path("bad", id)), bytes);
}

TEST_F(BadFiles, QuarantinedFilesAreReadAgainOnRequestAndByAnotherVersion) {
  const std::string wish = put("cur", bytes_of(chat.prompt("a wish <private>zebra</private>")), ".5");
  const std::string rubbish = put("new", "rubbish");
  must(m.open());
  must(m.drain());
  EXPECT_EQ(count("bad"), 2);
  EXPECT_EQ(must(m.engine->try_bad_again()), 2u);
  must(m.drain());
  EXPECT_EQ(m.text("SELECT outcome FROM events WHERE event_id = '" + wish + "'"), "stored");
  EXPECT_EQ(m.text("SELECT content_session_id FROM sdk_sessions"), chat.session);
  EXPECT_NE(m.text("SELECT prompt_text FROM user_prompts").find("a wish"), std::string::npos);
  EXPECT_EQ(m.files("bad"), (Lines{rubbish}));
  EXPECT_EQ(m.number("SELECT count(*) FROM events"), 2);

  const std::string later = put("cur", bytes_of(chat.ran("make", "t1")), ".crashed");
  must(m.open());
  must(m.open());
  EXPECT_EQ(m.files("bad").size(), 2u) << "the same version does not try again by itself";
  must(m.db().run("UPDATE meta SET value = '0.0.1' WHERE key = 'bad_tried_by'"));
  must(m.open());
  must(m.drain());
  EXPECT_EQ(m.text("SELECT outcome FROM events WHERE event_id = '" + later + "'"), "stored");
  EXPECT_EQ(m.files("bad"), (Lines{rubbish}));
}

TEST_F(BadFiles, LeftoversInCurKeepTheirPlaceAmongWaitingEvents) {
  m.deliver(chat.prompt("first"));
  const EventId second = m.deliver(chat.prompt("second"));
  m.deliver(chat.prompt("third"));
  must(m.disk.rename(path("new", second.value), path("cur", second.value)));
  must(m.open());
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT prompt_text FROM user_prompts ORDER BY prompt_number"),
            (Lines{"first", "second", "third"}));
}

TEST_F(BadFiles, AFileThatIsReadAloneHasAMarkedName) {
  const std::string id = put("cur", bytes_of(chat.start()));
  m.close();
  bool marked = false;
  m.disk.on_call([&](std::string_view op, std::string_view file) {
    if (op == "read" && file.ends_with(id + ".1")) marked = true;
  });
  must(m.open());
  must(m.drain());
  m.disk.on_call(nullptr);
  EXPECT_TRUE(marked);
  EXPECT_EQ(count("stored"), 1);
}

TEST_F(BadFiles, QuarantinedFilesAreKeptForTwoWeeks) {
  put("new", "rubbish");
  must(m.drain());
  m.clock.advance(std::chrono::hours(24 * 13));
  must(m.engine->tick());
  EXPECT_EQ(m.files("bad").size(), 1u);
  m.clock.advance(std::chrono::hours(24 * 2));
  must(m.engine->tick());
  EXPECT_EQ(m.files("bad").size(), 0u);
  EXPECT_EQ(count("bad"), 1);
}

TEST_F(BadFiles, QuarantinedFilesTakeAtMostAHundredMegabytes) {
  const std::string large(30u << 20, 'x');
  for (int i = 0; i < 5; ++i) {
    m.put_file(path("bad", std::string(32, static_cast<char>('a' + i))), large);
    m.clock.advance(std::chrono::minutes(1));
  }
  must(m.engine->tick());
  EXPECT_EQ(m.files("bad"), (Lines{std::string(32, 'c'), std::string(32, 'd'), std::string(32, 'e')}));
}

// A disk on which reading one file is the end of the process.
class DeadlyDisk final : public os::Disk {
 public:
  explicit DeadlyDisk(std::string deadly) : deadly_(std::move(deadly)) {}
  Result<std::unique_ptr<os::File>> open(const std::string& path, os::Open how) override {
    if (path.find(deadly_ + ".") != std::string::npos) std::abort();
    return disk_.open(path, how);
  }
  Status rename(const std::string& from, const std::string& to) override { return disk_.rename(from, to); }
  Status remove(const std::string& path) override { return disk_.remove(path); }
  Status make_dir(const std::string& path) override { return disk_.make_dir(path); }
  Result<std::vector<std::string>> list(const std::string& path) override { return disk_.list(path); }
  Result<os::Stat> stat(const std::string& path) override { return disk_.stat(path); }
  Status sync_dir(const std::string& path) override { return disk_.sync_dir(path); }

 private:
  os::RealDisk disk_;
  std::string deadly_;
};

TEST_F(BadFiles, ARealCrashOverAFileIsRecordedForTheNextDaemon) {
  const TempDir dir("crash");
  const hook::Home home = hook::Home::at(dir / "home");
  const std::string id = random_hex(16), other = random_hex(16);
  write_file(home.inbox() + "/cur/" + id, bytes_of(chat.prompt("bad one")));
  write_file(home.inbox() + "/cur/" + other, bytes_of(chat.ran("make", "t1")));
  const auto read_event = [&](os::Disk& disk) {
    os::RealClock clock;
    auto engine = must(daemon::Engine::open(home, {disk, clock, m.processes, m.log, "", false, nullptr}));
    while (must(engine->step())) {
    }
    return must(engine->db().text("SELECT group_concat(outcome, ' ' ORDER BY outcome) FROM events"));
  };
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    os::watch_for_crashes();
    DeadlyDisk disk(id);
    read_event(disk);
    _exit(0);
  }
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_EQ(WIFSIGNALED(state) ? WTERMSIG(state) : 0, SIGABRT);
  os::RealDisk disk;
  EXPECT_EQ(read_event(disk), "bad stored");
  EXPECT_TRUE(disk.stat(home.inbox() + "/bad/" + id).ok());
}

struct Odd {
  std::string name;
  std::string bytes;
  std::string outcome;
};

std::vector<Odd> odd_payloads() {
  const std::string deep(100'000, '[');
  const std::string objects = [] {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "{\"a\":";
    return text;
  }();
  std::string binary;
  for (int i = 0; i < 4096; ++i) binary += static_cast<char>(i * 7);
  return {
      {"empty", "", "bad"},
      {"blank", " \n\t ", "bad"},
      {"binary", binary, "bad"},
      {"text", "hello", "bad"},
      {"null", "null", "bad"},
      {"a number", "1e999", "bad"},
      {"deep arrays", deep, "bad"},
      {"deep objects", objects, "bad"},
      {"deep value", "{\"session_id\":\"s\",\"tool_input\":" + deep, "stored"},
      {"cut off", "{\"session_id\":\"s\",\"tool_name\":\"Ba", "stored"},
      {"wrong types",
       "{\"session_id\":\"s\",\"tool_name\":1,\"tool_input\":\"x\",\"prompt_id\":[],\"cwd\":{}}", "stored"},
      {"no session", "{\"session_id\":null}", "bad"},
      {"a session that is a number", "{\"session_id\":7}", "bad"},
      {"NUL in a name", std::string("{\"session_id\":\"a\\u0000b\",\"tool_name\":\"x\\u0000y\"}"), "stored"},
      {"lone surrogate", "{\"session_id\":\"\\ud800\"}", "stored"},
      {"bad UTF-8", "{\"session_id\":\"\xff\xfe\"}", "stored"},
      {"many members",
       [] {
         std::string text = "{\"session_id\":\"s\"";
         for (int i = 0; i < 300'000; ++i) text += ",\"k" + std::to_string(i) + "\":1";
         return text + "}";
       }(),
       "stored"},
      {"a string of 20 MB",
       "{\"session_id\":\"s\",\"tool_response\":\"" + std::string(20u << 20, 'x') + "\"}", "stored"},
      {"a session id of 2 MB", "{\"session_id\":\"" + std::string(2u << 20, 's') + "\"}", "stored"},
  };
}

TEST_F(BadFiles, APayloadThatBreaksOffIsStoredAndMarkedAsCut) {
  must(m.try_deliver("PostToolUse", R"({"session_id":"s","tool_name":"Ba)"));
  must(m.drain());
  const Json shown = must(m.run("sessions.show", Json::object({{"id", "s"}, {"events", true}})));
  EXPECT_TRUE(shown["events"].items().at(0)["cut"].as_bool()) << shown.dump();
  EXPECT_EQ(must(m.run("status"))["problems"].dump(), "[]");
}

TEST_F(BadFiles, OddPayloadsAreStoredWithinLimits) {
  for (const char* event : {"PostToolUse", "UserPromptSubmit", "SessionStart", ""}) {
    for (const Odd& odd : odd_payloads()) {
      SCOPED_TRACE(std::string(event) + " with " + odd.name);
      const EventId id = must(m.try_deliver(event, odd.bytes));
      must(m.drain());
      m.clock.advance(std::chrono::seconds(6));
      EXPECT_EQ(m.text("SELECT outcome FROM events WHERE event_id = '" + id.value + "'"), odd.outcome)
          << m.text("SELECT reason FROM events WHERE event_id = '" + id.value + "'");
    }
  }
  const EventId fine = m.deliver(chat.start());
  must(m.drain());
  EXPECT_EQ(m.text("SELECT outcome FROM events WHERE event_id = '" + fine.value + "'"), "stored");
  EXPECT_EQ(must(m.engine->waiting()), 0u);
  EXPECT_EQ(m.rows("PRAGMA integrity_check"), (Lines{"ok"}));
  m.close();
  EXPECT_LT(must(m.disk.stat(m.home.database())).size, 60u << 20);
}

// The inbox on a real disk, where directories can be removed.
class RealInbox : public BadFiles {
 protected:
  RealInbox() { open(); }
  void open() {
    engine.reset();
    engine = must(daemon::Engine::open(home, {disk, clock, m.processes, m.log, "", false, nullptr}));
  }

  std::string box(const std::string& name) { return home.inbox() + "/" + name; }
  EventId leave(const std::string& bytes) {
    EventId id{random_hex(16)};
    write_file(box("new") + "/" + id.value, bytes);
    return id;
  }
  // Counts all steps; far too many when it loops.
  int work() {
    int steps = 0;
    while (must(engine->step()) && steps < 100) ++steps;
    return steps;
  }
  std::string outcome(const EventId& id) {
    return must(engine->db().text("SELECT outcome FROM events WHERE event_id = ?", id.value))
        .value_or("none");
  }
  Json status() { return must(engine->run(*ops::find_operation("status"), Json::object())); }

  TempDir dir{"inbox"};
  hook::Home home = hook::Home::at(dir / "home");
  os::RealDisk disk;
  os::RealClock clock;
  std::unique_ptr<daemon::Engine> engine;
};

TEST_F(RealInbox, ARemovedDirectoryIsCreatedAgain) {
  for (const char* gone : {"/cur", "/bad", "/new", ""}) {
    SCOPED_TRACE(gone);
    std::filesystem::remove_all(home.inbox() + gone);
    EXPECT_EQ(must(engine->waiting()), 0u);
    const EventId good = leave(bytes_of(chat.prompt(std::string("after ") + gone)));
    const EventId bad = leave("rubbish");
    EXPECT_LT(work(), 100);
    EXPECT_EQ(outcome(good), "stored");
    EXPECT_EQ(outcome(bad), "bad");
    EXPECT_TRUE(disk.stat(box("bad") + "/" + bad.value).ok());
    EXPECT_EQ(status()["inbox"].as_int(), 0);
  }
}

TEST_F(RealInbox, WithoutADirectoryForFilesInWorkNothingIsLostAndNothingSpins) {
  std::filesystem::remove_all(box("cur"));
  write_file(box("cur"), "in the way");
  const EventId good = leave(bytes_of(chat.prompt("patience")));
  EXPECT_FALSE(engine->step().ok());
  EXPECT_NE(status()["problems"].dump().find("in the way"), std::string::npos) << status().dump();
  std::filesystem::remove(box("cur"));
  work();
  EXPECT_EQ(outcome(good), "stored");
  EXPECT_EQ(status()["problems"].dump(), "[]");
}

TEST_F(RealInbox, AFileThatCanNeitherBeReadNorQuarantinedIsRetriedEachMinute) {
  std::filesystem::remove_all(box("bad"));
  write_file(box("bad"), "in the way");
  const EventId bad = leave("rubbish");
  const EventId good = leave(bytes_of(chat.prompt("work")));
  for (int minute = 0; minute < 2; ++minute) {
    EXPECT_LT(work(), 10);
    EXPECT_EQ(outcome(good), "stored");
    EXPECT_EQ(outcome(bad), "none");
    EXPECT_EQ(read_text(box("cur") + "/" + bad.value), "rubbish");
    EXPECT_EQ(status()["inbox"].as_int(), 1);
    EXPECT_EQ(status()["ledger"]["gap"].as_int(), 1);
    EXPECT_NE(status()["problems"].dump().find("can neither be read nor quarantined"), std::string::npos);
    must(engine->tick());
  }
  open();  // no reason not to start
  work();
  EXPECT_EQ(read_text(box("cur") + "/" + bad.value), "rubbish");
  std::filesystem::remove(box("bad"));
  must(engine->tick());
  work();
  EXPECT_EQ(outcome(bad), "bad");
  EXPECT_EQ(read_text(box("bad") + "/" + bad.value), "rubbish");
  EXPECT_EQ(status()["ledger"]["gap"].as_int(), 0);
  EXPECT_EQ(status()["problems"].items().size(), 1u) << status()["problems"].dump();
}

TEST_F(BadFiles, AFileWithoutPermissionToReadItBlocksNothingAndIsReported) {
  for (const char* box : {"new", "cur"}) {
    SCOPED_TRACE(box);
    const std::string id = put(box, bytes_of(chat.ran("make", box)));
    if (std::string_view(box) == "cur") must(m.open());
    m.disk.on_call([&](std::string_view op, std::string_view file) {
      if (op == "open" && file.find("/cur/" + id) != std::string_view::npos)
        m.disk.fail_at(1, EACCES, SimDisk::Calls::all);
    });
    const EventId fine = m.deliver(chat.ran("make", std::string("other ") + box));
    for (int minute = 0; minute < 2; ++minute) {
      must(m.drain());  // no error: everything else continues
      EXPECT_EQ(m.text("SELECT outcome FROM events WHERE event_id = '" + fine.value + "'"), "stored");
      const Json status = must(m.run("status"));
      EXPECT_NE(status["problems"].dump().find("event " + id + " cannot be read"), std::string::npos)
          << status["problems"].dump();
      EXPECT_EQ(status["ledger"]["gap"].as_int(), 1);
      must(m.engine->tick());
    }
    m.disk.on_call(nullptr);
    must(m.engine->tick());
    must(m.drain());
    EXPECT_EQ(m.text("SELECT outcome FROM events WHERE event_id = '" + id + "'"), "stored");
    EXPECT_EQ(must(m.run("status"))["problems"].dump(), "[]");
  }
}

TEST_F(BadFiles, AFileThatKilledADaemonAndCannotBeQuarantinedDoesNotPreventTheStart) {
  const std::string id = put("cur", bytes_of(chat.prompt("bad one")), ".crashed");
  m.close();
  m.disk.on_call([&](std::string_view op, std::string_view file) {
    if (op == "create" && file.find("/bad/") != std::string_view::npos) m.disk.fail_at(1, ENOSPC);
  });
  must(m.open());
  must(m.drain());
  EXPECT_EQ(count("bad"), 0);
  EXPECT_EQ(must(m.run("status"))["inbox"].as_int(), 1);
  EXPECT_NE(must(m.run("status"))["problems"].dump().find(id), std::string::npos);
  m.disk.on_call(nullptr);
  must(m.engine->tick());
  must(m.drain());
  EXPECT_EQ(count("bad"), 1);
  EXPECT_EQ(m.files("bad"), (Lines{id}));
  EXPECT_EQ(m.files("cur"), Lines{});
}

}  // namespace
}  // namespace cairn::test
