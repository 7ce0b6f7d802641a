// The limit on what is learned from one session: nothing is dropped, nothing ends early, and the user is
// warned.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ops/settings.h"
#include "store/evidence.h"
#include "support/engine_fixture.h"
#include "support/scripted_provider.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;

class Limits : public testing::Test {
 protected:
  ~Limits() override { m.close(); }

  void open(int limit) {
    must(m.open());
    must(ops::set_setting(m.disk, m.home, "budget.session_observations", std::to_string(limit)));
    must(m.engine->tick());
  }
  // A turn from which something is learned.
  void turn(int number) {
    m.deliver(chat.prompt(fmt::format("write file {}", number)));
    m.deliver(chat.wrote(fmt::format("file{}.txt", number), fmt::format("t{}", number)));
    m.deliver(chat.stop(fmt::format("Wrote file {}.", number)));
    must(m.drain());
  }
  std::int64_t learned() { return m.number("SELECT count(*) FROM observations"); }

  Machine m;
  Chat chat;
};

TEST_F(Limits, BeyondTheLimitEventsAreKeptAsEvidenceAndTurnsAreStillSummarised) {
  open(3);
  for (int i = 1; i <= 8; ++i) turn(i);
  EXPECT_EQ(learned(), 3);
  EXPECT_TRUE(m.log.has("budget reached"));
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries WHERE interim = 0"), 8);
  EXPECT_EQ(m.rows("SELECT DISTINCT status FROM pending_messages"), (Lines{"processed"}));
  EXPECT_EQ(
      m.number(
          "SELECT count(*) FROM evidence v JOIN events e ON e.seq = v.event_seq WHERE e.kind = 'tool' AND "
          "v.input_payload IS NOT NULL"),
      8);
  EXPECT_EQ(m.text("SELECT status FROM sdk_sessions"), "active");  // the session continues
  EXPECT_NE(Machine::context_of(m.ask(Chat{.session = "next"}.start())).find("file8.txt"), std::string::npos);
  // Another session has a limit of its own; a turn that is distilled again needs no more of it.
  chat.session = "another";
  turn(9);
  EXPECT_EQ(learned(), 4);
  m.tell(chat.wrote("late.txt", "late"));
  EXPECT_GE(learned(), 4);
}

TEST_F(Limits, AProvidersObservationsAreLimitedToo) {
  ScriptedProvider provider{m.clock};
  m.provider = &provider;
  open(5);
  for (int i = 1; i <= 4; ++i) turn(i);  // two events each
  EXPECT_EQ(learned(), 5);
  EXPECT_EQ(provider.requests.size(), 2u);  // the built-in observations of the third turn reached the limit
  EXPECT_EQ(m.rows("SELECT DISTINCT status FROM pending_messages"), (Lines{"processed"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 4);
  EXPECT_EQ(
      m.number("SELECT count(*) FROM evidence v JOIN events e ON e.seq = v.event_seq WHERE e.kind = 'tool'"),
      4);
  m.close();
}

TEST_F(Limits, TheWarningIsOnceInTheLogAndTheNoticeAndStaysInStatus) {
  open(5);
  for (int i = 1; i <= 3; ++i) turn(i);
  const auto problems = [&] { return must(m.run("status"))["problems"].dump(); };
  EXPECT_EQ(problems(), "[]");
  EXPECT_FALSE(m.log.has("budget near"));
  turn(4);
  EXPECT_TRUE(m.log.has("budget near: 80 % of budget.session_observations limit=5"));
  EXPECT_NE(problems().find("has 4 of 5 observations"), std::string::npos) << problems();
  const auto notice = [&](const std::string& session) {
    return m.ask(Chat{.session = session}.start()).line.find("came near its limit of observations") !=
           std::string::npos;
  };
  EXPECT_TRUE(notice("next"));
  EXPECT_FALSE(notice("and another"));
  turn(5);
  EXPECT_EQ(m.log.all().find("budget near"), m.log.all().rfind("budget near"));
  EXPECT_NE(problems().find("has 5 of 5 observations"), std::string::npos);
  EXPECT_EQ(must(m.run("status"))["budget"].dump(), R"({"session_observations":5,"sessions_near_limit":1})");
  m.tell(chat.end());
  EXPECT_EQ(problems(), "[]");
}

// Sends notes for ever and never replies.
class Babbler final : public agent::Provider {
 public:
  Babbler() { setenv("CAIRN_AGENT_BATCH_WAIT_SECONDS", "0", 0); }  // its batches wait for nothing
  std::string_view name() const override { return "babbler"; }
  std::string_view model() const override { return ""; }
  bool has_ids() const override { return false; }
  std::unique_ptr<agent::Conversation> start(const agent::Start& start) override {
    sessions.push_back(start.session);
    return std::make_unique<Dialog>();
  }
  std::vector<SessionId> sessions;

 private:
  struct Dialog final : agent::Conversation {
    void send(const agent::Request&) override {}
    std::optional<agent::ProviderMessage> receive() override {
      return agent::ProviderMessage{{}, agent::ProviderNote{}};
    }
  };
};

TEST(EndlessOutput, EndsTheConversationAndBlocksNoOther) {
  Machine m;
  Babbler provider;
  m.provider = &provider;
  must(m.open());
  Chat chat, other;
  other.session = "22222222-aaaa-4bbb-8ccc-000000000002";
  const auto turn = [&](Chat& in) {
    m.deliver(in.prompt("work"));
    m.deliver(in.stop());
  };
  turn(chat);
  for (int i = 0; i < 4; ++i) must(m.engine->step());
  turn(other);
  for (int i = 0; i < 4; ++i) must(m.engine->step());
  EXPECT_EQ(m.number("SELECT count(*) FROM events"), 4);
  EXPECT_EQ(provider.sessions.size(), 2u);  // the second began while the first was still running
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT DISTINCT status, retry_count, last_error FROM pending_messages"),
            (Lines{"pending|1|transient: many messages without a reply"}));
  m.close();
}

TEST(Budget, ThatCannotBeReadLeavesTheMessagesInTheQueue) {
  Machine m;
  ScriptedProvider provider{m.clock};
  m.provider = &provider;
  must(m.open());
  Chat chat;
  m.deliver(chat.prompt("work"));
  m.deliver(chat.stop());
  must(m.engine->step());
  must(m.db().exec("PRAGMA legacy_alter_table = ON; ALTER TABLE observations RENAME TO away"));
  EXPECT_FALSE(m.engine->step().ok());
  EXPECT_EQ(m.rows("SELECT status, retry_count FROM pending_messages"), (Lines{"pending|0"}));
  must(m.db().exec("ALTER TABLE away RENAME TO observations"));
  must(m.drain());
  EXPECT_EQ(provider.requests.size(), 1u);
  m.close();
}

TEST(Reply, AboutAPartOfATurnKeepsTheObservationsOfTheRest) {
  Machine m;
  ScriptedProvider provider{m.clock};
  m.provider = &provider;
  must(m.open());
  provider.script = [](SessionId, const agent::Request& request) {
    return Plan::says(observation_text("the better word", {events_in(request).front()}));
  };
  Chat chat;
  m.deliver(chat.prompt("make two files"));
  m.deliver(chat.wrote("/home/dev/proj/one.txt", "t1"));
  m.deliver(chat.wrote("/home/dev/proj/two.txt", "t2"));
  m.deliver(chat.stop("Because the parser was wrong I wrote both files."));
  must(m.engine->step());
  const Lines before = m.rows("SELECT title FROM observations ORDER BY id");
  ASSERT_FALSE(before.empty());
  must(m.drain());
  Lines after = m.rows("SELECT title FROM observations WHERE title <> 'the better word' ORDER BY id");
  EXPECT_EQ(after, before);  // each is of more than the one event
  EXPECT_EQ(m.number("SELECT count(*) FROM observations WHERE title = 'the better word'"), 1);
  // The same when the turn is distilled again.
  m.tell(chat.wrote("/home/dev/proj/three.txt", "t3"));
  EXPECT_GE(m.number("SELECT count(*) FROM observations WHERE title <> 'the better word'"),
            static_cast<std::int64_t>(before.size()));
  m.close();
}

}  // namespace
}  // namespace cairn::test
