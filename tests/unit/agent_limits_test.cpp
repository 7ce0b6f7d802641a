// The limit on what is learned from one session: nothing is dropped, nothing ends early, and it is told.
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

TEST_F(Limits, I7BeyondTheLimitEventsAreKeptAsEvidenceAndTurnsAreStillSummarised) {
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
  EXPECT_EQ(m.text("SELECT status FROM sdk_sessions"), "active");  // it goes on
  EXPECT_NE(Machine::context_of(m.ask(Chat{.session = "next"}.start())).find("file8.txt"), std::string::npos);
  // Another session has a limit of its own; a turn that is told again needs no more room.
  chat.session = "another";
  turn(9);
  EXPECT_EQ(learned(), 4);
  m.tell(chat.wrote("late.txt", "late"));
  EXPECT_GE(learned(), 4);
}

TEST_F(Limits, I7TheSameHoldsForAProvider) {
  ScriptedProvider provider{m.clock};
  m.provider = &provider;
  open(5);
  for (int i = 1; i <= 4; ++i) turn(i);  // two events each
  EXPECT_EQ(learned(), 5);
  EXPECT_EQ(provider.requests.size(), 2u);  // what the built-in distiller said of the third filled it up
  EXPECT_EQ(m.rows("SELECT DISTINCT status FROM pending_messages"), (Lines{"processed"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 4);
  EXPECT_EQ(
      m.number("SELECT count(*) FROM evidence v JOIN events e ON e.seq = v.event_seq WHERE e.kind = 'tool'"),
      4);
  m.close();
}

TEST_F(Limits, I7TheWarningIsToldOnceInTheLogAndTheNoticeAndStaysInStatus) {
  open(5);
  for (int i = 1; i <= 3; ++i) turn(i);
  const auto problems = [&] { return must(m.run("status"))["problems"].dump(); };
  EXPECT_EQ(problems(), "[]");
  EXPECT_FALSE(m.log.has("budget near"));
  turn(4);
  EXPECT_TRUE(m.log.has("budget near: 80 % of budget.session_observations limit=5"));
  EXPECT_NE(problems().find("has 4 of 5 observations"), std::string::npos) << problems();
  const auto notice = [&](const std::string& session) {
    return m.ask(Chat{.session = session}.start()).line.find("near their limit of observations") !=
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

}  // namespace
}  // namespace cairn::test
