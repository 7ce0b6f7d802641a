// A damaged store under the real daemon: whatever happens to its file, the next session is served and the
// damage reported.
#include <random>

#include "system/delivery.h"

namespace cairn::test {

class RecoverTest : public DeliveryTest {
 protected:
  void end_daemon(int number) {
    for (const pid_t pid : daemons()) ::kill(pid, number);
    ASSERT_TRUE(wait_until([this] { return daemons().empty(); }, 10s));
  }
  // Some sessions, the last of which is worth knowing.
  void live() {
    for (int i = 0; i < 200; ++i) deliver_next(10);
    play_session("one", "create the test file", "test.txt");
    ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  }
  std::vector<std::string> asides() {
    std::vector<std::string> found;
    for (const std::string& name : os::RealDisk().list(home_.data).value_or({}))
      if (name.starts_with("cairn.db.damaged-") && !name.ends_with("-wal") && !name.ends_with("-shm"))
        found.push_back(home_.data + "/" + name);
    return found;
  }
  void expect_told() {
    const std::string problems = json({"status"})["problems"].dump();
    EXPECT_NE(problems.find("the store was damaged"), std::string::npos);
    EXPECT_NE(problems.find(" rows were saved"), std::string::npos) << problems;
    EXPECT_NE(log().find("was rebuilt"), std::string::npos);
    EXPECT_NE(cairn({"doctor"}).out.find("the store was damaged"), std::string::npos);
  }
};

TEST_F(RecoverTest, BytesThatChangedAreFoundAtTheStartAndTheNextSessionIsServed) {
  live();
  end_daemon(SIGTERM);
  const std::string undamaged = read_text(home_.database());
  std::mt19937_64 random(3);
  for (int round = 0; round < (full() ? 200 : 6); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    end_daemon(SIGTERM);
    for (const std::string& aside : asides()) ASSERT_TRUE(os::RealDisk().remove(aside).ok());
    std::string bytes = undamaged;
    const std::size_t at = 4096 + random() % (bytes.size() - 8192);
    for (std::size_t i = at; i < at + 4096; ++i) bytes[i] = static_cast<char>(random());
    write_file(home_.database(), bytes);
    const Json answer = start_answer("next" + std::to_string(round));
    EXPECT_NE(answer["systemMessage"].dump().find("damage of the store was found"), std::string::npos)
        << answer.dump();
    EXPECT_EQ(asides().size(), 1u);
    expect_told();
    play_session("new" + std::to_string(round), "go on", "more.txt");
    EXPECT_NE(context_of(start_answer("after" + std::to_string(round))).find("more.txt"), std::string::npos);
    if (HasFailure()) return;
  }
}

TEST_F(RecoverTest, DamageFoundWhileServingEndsTheDaemonAndTheNextOneRepairsIt) {
  live();
  end_daemon(SIGTERM);
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  const pid_t first = daemons().at(0);
  {  // under its eyes, but nothing was read yet
    auto file = std::move(*disk_.open(home_.database(), os::Open::read_write));
    const std::uint64_t size = *file->size();
    for (std::uint64_t at = 4096; at + 4096 <= size; at += 4096)
      ASSERT_TRUE(file->write_at(at, std::string(2048, '\x55')).ok());
  }
  wait_until([&] { return cairn({"sessions", "list"}), !is_running(first); }, 10s);
  EXPECT_FALSE(is_running(first)) << log();
  play_session("two", "go on", "more.txt");
  EXPECT_NE(context_of(start_answer("three")).find("more.txt"), std::string::npos);
  EXPECT_EQ(asides().size(), 1u);
  expect_told();
}

TEST_F(RecoverTest, AMissingLogAForeignFileAndAnEmptyOneAreReportedAndReplaced) {
  const auto expect_notice = [this](const std::string& session) {
    const Json answer = start_answer(session);
    EXPECT_NE(answer["systemMessage"].dump().find("damage of the store"), std::string::npos) << answer.dump();
  };
  live();
  end_daemon(SIGTERM);
  play_session("two", "go on", "more.txt");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  end_daemon(SIGKILL);
  ASSERT_TRUE(disk_.remove(home_.database() + "-wal").ok());
  expect_notice("a");
  EXPECT_NE(json({"status"})["problems"].dump().find("write-ahead log was missing"), std::string::npos);
  EXPECT_NE(cairn({"doctor"}).out.find("write-ahead log was missing"), std::string::npos);
  EXPECT_NE(log().find("write-ahead log was missing"), std::string::npos);
  for (const std::string& bytes : {std::string("a shopping list\n"), std::string()}) {
    end_daemon(SIGTERM);
    write_file(home_.database(), bytes);
    expect_notice("b" + bytes);
    expect_told();
  }
  EXPECT_EQ(asides().size(), 2u);
  end_daemon(SIGTERM);
  ASSERT_TRUE(disk_.remove(home_.database()).ok());
  expect_notice("c");
  EXPECT_NE(json({"status"})["problems"].dump().find("the store"), std::string::npos);
}

TEST_F(RecoverTest, ARepairThatWasKilledContinuesAtTheNextStart) {
  live();
  end_daemon(SIGTERM);
  std::string bytes = read_text(home_.database());
  bytes.replace(bytes.size() / 2 / 4096 * 4096, 4096, std::string(4096, '\x55'));
  write_file(home_.database(), bytes);
  for (int i = 0; i < (full() ? 60 : 6); ++i) {
    Background daemon(program("cairn", {"daemon", "run"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * i));
    daemon.kill();
  }
  EXPECT_NE(context_of(start_answer("next")).find("test.txt"), std::string::npos);
  ASSERT_EQ(asides().size(), 1u);
  EXPECT_EQ(read_text(asides()[0]), bytes);
  expect_told();
}

TEST_F(RecoverTest, QuarantinedEventsAreReadAgainByCommand) {
  ASSERT_TRUE(os::make_dirs(disk_, home_.inbox() + "/cur").ok());
  deliver("PostToolUse", tool_use("one", "t1"));
  deliver("PostToolUse", tool_use("one", "t2"));
  const std::string id = disk_.list(home_.inbox() + "/new")->front();
  ASSERT_TRUE(disk_.rename(home_.inbox() + "/new/" + id, home_.inbox() + "/cur/" + id + ".5").ok());
  EXPECT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  EXPECT_EQ(json({"status"})["ledger"]["counted"].dump(), R"({"bad":1})");
  EXPECT_NE(json({"status"})["problems"].dump().find("process --again"), std::string::npos);
  EXPECT_EQ(cairn({"process", "--again"}).exit_code, 0);
  expect_all_stored();
}

}  // namespace cairn::test
