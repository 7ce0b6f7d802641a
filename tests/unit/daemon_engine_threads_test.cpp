// The daemon's work as steps: what it keeps across restarts and how it reports problems.
#include <gtest/gtest.h>

#include <cerrno>

#include "daemon/engine.h"
#include "hook/flags.h"
#include "ops/settings.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;

TEST(Engine, MakesAHomeWithItsKeyFlagsAndInbox) {
  Machine m;
  must(m.open());
  EXPECT_EQ(m.read(m.home.key()).size(), 32u);
  EXPECT_EQ(m.read(m.home.flags()).size(), hook::Flags::kBytes);
  for (const char* box : {"tmp", "new", "cur", "bad"}) EXPECT_EQ(m.files(box), Lines{}) << box;
  const std::string key = m.engine->key();
  must(m.open());
  EXPECT_EQ(m.engine->key(), key);
}

TEST(Engine, RefusesAnInvalidKey) {
  Machine m;
  must(m.open());
  m.close();
  m.put_file(m.home.key(), "short");
  const Status opened = m.open();
  EXPECT_EQ(opened.error().code, Code::corrupt);
  EXPECT_NE(opened.error().message.find("restore it from a copy"), std::string::npos);
}

TEST(Engine, AKeyThatCannotBeReadIsNotCalledInvalid) {
  Machine m;
  must(m.open());
  const std::string key = m.engine->key();
  m.close();
  for (const int error : {EACCES, EIO}) {
    m.disk.on_call([&](std::string_view op, std::string_view path) {
      if (op == "open" && path == m.home.key()) m.disk.fail_at(1, error, SimDisk::Calls::all);
    });
    const Status opened = m.open();
    EXPECT_EQ(opened.error().code, error == EACCES ? Code::denied : Code::internal);
    EXPECT_TRUE(opened.error().message.starts_with("key: open " + m.home.key())) << opened.error().message;
  }
  m.disk.on_call(nullptr);
  must(m.open());
  EXPECT_EQ(m.engine->key(), key);
}

TEST(Engine, ReadsTheInboxBeforeTheQueueAndThenIsIdle) {
  Machine m;
  must(m.open());
  Chat chat;
  m.deliver(chat.prompt("work"));
  m.deliver(chat.ran("make", "t1"));
  m.deliver(chat.stop());
  EXPECT_TRUE(must(m.engine->step()));
  EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages WHERE status = 'pending'"), 2);
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages WHERE status = 'processed'"), 2);
  EXPECT_FALSE(must(m.engine->step()));
}

TEST(Engine, ABacklogLargerThanAGroupIsReadCompletely) {
  Machine m;
  must(m.open());
  Chat chat;
  for (int i = 0; i < 600; ++i) m.deliver(chat.call("Notification", {{"message", i}}));
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE outcome = 'stored'"), 600);
  EXPECT_EQ(must(m.engine->waiting()), 0u);
}

TEST(Engine, SettingsTakeEffectWithTheNextTick) {
  Machine m;
  must(m.open());
  must(ops::set_setting(m.disk, m.home, "hook.sync", "disk"));
  must(ops::set_setting(m.disk, m.home, "capture.skip_tools", "[\"Bash\"]"));
  must(m.engine->tick());
  EXPECT_EQ(hook::Flags::decode(m.read(m.home.flags())).sync, hook::Flags::Sync::disk);
  Chat chat;
  m.tell(chat.ran("make", "t1"));
  EXPECT_EQ(m.text("SELECT outcome FROM events"), "skipped");
}

TEST(Engine, ABadSettingIsLoggedAndChangesNothing) {
  Machine m;
  must(m.open());
  m.put_file(m.home.config_file, "[context]\nbudget_tokens = \"many\"\n");
  must(m.engine->tick());
  EXPECT_TRUE(m.log.has("context.budget_tokens"));
  EXPECT_EQ(m.engine->settings().integer("context.budget_tokens"), 2000);
}

TEST(Engine, ABadModeIsReportedAndTheModeCodeIsUsed) {
  const auto types = [](const std::string& config) {
    Machine m;
    must(m.open());
    m.put_file(m.home.config_file, config);
    must(m.engine->tick());
    const bool problem_shown =
        must(m.run("status"))["problems"].dump().find("agent.mode") != std::string::npos;
    EXPECT_EQ(problem_shown, !config.empty());
    Chat chat;
    m.tell(chat.prompt("add a parser"));
    m.tell(chat.wrote("parser.c", "t1"));
    m.tell(chat.stop("Decision: we use recursive descent, because the grammar is small."));
    return m.rows("SELECT type, title FROM observations ORDER BY id");
  };
  const Lines usual = types("");
  EXPECT_FALSE(usual.empty());
  EXPECT_EQ(types("[agent]\nmode = \"diary\"\n"), usual);
}

TEST(Engine, ProcessedMessagesAreKeptAsManyAsTheSettingSays) {
  Machine m;
  must(m.open());
  must(ops::set_setting(m.disk, m.home, "queue.keep_processed", "3"));
  Chat chat;
  for (int i = 0; i < 9; ++i) m.tell(chat.ran("make", "t" + std::to_string(i)));
  m.tell(chat.stop());
  must(m.engine->tick());
  EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages"), 3);
  EXPECT_EQ(m.number("SELECT count(*) FROM evidence WHERE input_payload IS NOT NULL"), 9);
}

TEST(Engine, FailedDeliveriesAreCountedOnce) {
  Machine m;
  must(m.open());
  m.put_file(m.home.inbox() + "/failed", "a\nb\nc\n");
  must(m.engine->tick());
  must(m.engine->tick());
  EXPECT_EQ(m.number("SELECT value FROM meta WHERE key = 'failed_deliveries'"), 3);
  m.put_file(m.home.inbox() + "/failed", "d\n");
  must(m.engine->tick());
  EXPECT_EQ(m.number("SELECT value FROM meta WHERE key = 'failed_deliveries'"), 4);
  EXPECT_NE(must(m.run("status"))["problems"].dump().find("4 events could not be written"),
            std::string::npos);
}

TEST(Engine, AnIntakeErrorIsReportedUntilItIsOver) {
  Machine m;
  must(m.open());
  Chat chat;
  m.deliver(chat.prompt("work"));
  m.disk.on_call([&](std::string_view op, std::string_view path) {
    if (op == "write" && path.ends_with("-wal")) m.disk.fail_at(1, EIO);
  });
  // The fault hits the intake's transaction; the report is written a moment later.
  EXPECT_FALSE(m.engine->step().ok());
  m.disk.on_call(nullptr);
  m.disk.clear_faults();
  m.disk.fail_at(1, EIO);  // the next group cannot even be moved to cur/
  EXPECT_FALSE(m.engine->step().ok());
  m.disk.clear_faults();
  EXPECT_NE(must(m.run("status"))["problems"].dump().find("intake:"), std::string::npos);
  must(m.drain());
  EXPECT_EQ(must(m.run("status"))["problems"].dump(), "[]");
  EXPECT_EQ(m.text("SELECT prompt_text FROM user_prompts"), "work");
}

TEST(Engine, AnIntakeErrorOfAnEarlierDaemonIsOverOnceIntakeWorks) {
  Machine m;
  must(m.open());
  must(m.db().exec("INSERT INTO meta VALUES('intake_error', 'no space left')"));
  must(m.open());
  EXPECT_NE(must(m.run("status"))["problems"].dump().find("no space left"), std::string::npos);
  Chat chat;
  m.tell(chat.prompt("work"));
  EXPECT_EQ(must(m.run("status"))["problems"].dump(), "[]");
}

class FailedDeliveries : public testing::Test {
 protected:
  FailedDeliveries() {
    must(m.open());
    m.put_file(path, "a\nb\n");
  }
  std::int64_t counted() { return m.number("SELECT value FROM meta WHERE key = 'failed_deliveries'"); }

  Machine m;
  const std::string path = m.home.inbox() + "/failed";
};

TEST_F(FailedDeliveries, AreKeptUntilTheyCanBeCounted) {
  m.disk.on_call([&](std::string_view op, std::string_view file) {
    if (op == "write" && file.ends_with("-wal")) m.disk.fail_at(1, ENOSPC);
  });
  EXPECT_FALSE(m.engine->tick().ok());
  m.disk.on_call(nullptr);
  m.disk.clear_faults();
  must(m.engine->tick());
  EXPECT_EQ(counted(), 2);
}

TEST_F(FailedDeliveries, OneThatComesWhileTheOthersAreCountedIsCountedNext) {
  bool added = false;
  m.disk.on_call([&](std::string_view op, std::string_view file) {
    if (added || op != "sync" || !file.ends_with("-wal")) return;
    added = true;
    const SimDisk::Onlooker hook(m.disk);
    const std::size_t end = m.read(path).find_last_not_of(' ') + 1;
    must(must(m.disk.open(path, os::Open::read_write))->write_at(end, "c\n"));
  });
  must(m.engine->tick());
  m.disk.on_call(nullptr);
  EXPECT_TRUE(added);
  EXPECT_EQ(counted(), 2);
  must(m.engine->tick());
  EXPECT_EQ(counted(), 3);
}

TEST_F(FailedDeliveries, AreCountedOnceWhenTheDaemonDiesBeforeItClearsTheNote) {
  m.disk.on_call([&](std::string_view op, std::string_view file) {
    if (op == "write" && file == path && counted() == 2) m.disk.halt();
  });
  ignore(m.engine->tick());
  EXPECT_TRUE(m.disk.halted());
  m.disk.on_call(nullptr);
  m.close();
  m.disk.crash();
  must(m.open());
  must(m.engine->tick());
  EXPECT_EQ(counted(), 2);
}

TEST(Engine, WhatWasForgottenStaysForgottenWhenTombstonesCannotBeRead) {
  Machine m;
  must(m.open());
  Chat chat;
  m.tell(chat.prompt("rotate the token zanzibar-canary-7731 for the quokka service today"));
  must(m.run("forget", Json::object({{"secret", "zanzibar-canary-7731"}, {"cwd", chat.cwd}})));
  must(m.drain());
  must(m.db().run("ALTER TABLE tombstones RENAME TO unreadable"));
  m.engine->reload();
  EXPECT_TRUE(m.log.has("tombstones: "));
  must(m.db().run("ALTER TABLE unreadable RENAME TO tombstones"));
  m.tell(chat.prompt("the token zanzibar-canary-7731 does not work"));
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts"), 2);
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts WHERE prompt_text LIKE '%zanzibar%'"), 0);
}

TEST(Engine, AFailureOfWhatAnOperationLeftToTheWriterIsLogged) {
  Machine m;
  must(m.open());
  m.engine->write_later("scan", [](store::Db&) -> Status { return Error{Code::full, "the disk is full"}; });
  EXPECT_TRUE(m.log.has("scan: the disk is full")) << m.log.all();
}

}  // namespace
}  // namespace cairn::test
