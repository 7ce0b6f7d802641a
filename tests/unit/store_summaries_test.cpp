#include <gtest/gtest.h>

#include "store/receipts.h"
#include "store/sessions.h"
#include "store/summaries.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;

class Summaries : public testing::Test {
 protected:
  Summaries() {
    must(m.open());
    m.tell(chat.prompt("work"));
    m.tell(chat.stop("Built-in words."));
    memory.value = m.text("SELECT memory_session_id FROM sdk_sessions");
  }

  void put(const std::string& provider, const std::string& words, std::int64_t prompt = 1) {
    store::Summary summary;
    summary.project = "proj";
    summary.provider = provider;
    summary.prompt_number = prompt;
    summary.completed = words;
    summary.created_at = m.clock.now();
    must(store::put_summary(m.db(), memory, summary, m.clock.now()));
  }
  Lines all() {
    return m.rows("SELECT prompt_number, provider, completed FROM session_summaries ORDER BY 1");
  }

  Machine m;
  Chat chat;
  MemoryId memory;
};

TEST_F(Summaries, AModelsReplacesTheBuiltInOneInItsPlace) {
  const std::string row = m.text("SELECT id || uuid || created_at FROM session_summaries");
  put("claude-cli", "A model's words.");
  EXPECT_EQ(all(), (Lines{"1|claude-cli|A model's words."}));
  EXPECT_EQ(m.text("SELECT id || uuid || created_at FROM session_summaries"), row);
  put("claude-cli", "Better words.");
  EXPECT_EQ(all(), (Lines{"1|claude-cli|Better words."}));
}

TEST_F(Summaries, TheBuiltInOneNeverReplacesAModels) {
  put("claude-cli", "A model's words.");
  m.tell(chat.wrote("late.txt", "t1"));  // summarises the turn again
  m.tell(chat.stop("Other words."));
  EXPECT_EQ(all(), (Lines{"1|claude-cli|A model's words."}));
}

TEST_F(Summaries, EachTurnHasItsOwn) {
  put("builtin", "Of the second.", 2);
  EXPECT_EQ(all(), (Lines{"1|builtin|Built-in words.", "2|builtin|Of the second."}));
}

TEST_F(Summaries, SayHowTheirTurnEnded) {
  EXPECT_EQ(must(store::find_summary(m.db(), 1))->turn_end, store::TurnEnd::stop);
  m.tell(chat.prompt("newer"));
  m.tell(chat.end());
  EXPECT_EQ(must(store::find_summary(m.db(), 2))->turn_end, store::TurnEnd::session_end);
}

TEST_F(Summaries, TheGeneratedTextHoldsAllFields) {
  EXPECT_NE(m.text("SELECT summary_text FROM session_summaries").find("Built-in words."), std::string::npos);
}

TEST_F(Summaries, AReceiptIsConfirmedOnce) {
  store::Receipt receipt;
  receipt.event = EventId{"e"};
  receipt.session = SessionId{1};
  receipt.project = "proj";
  receipt.up_to = receipt.created_at = m.clock.now();
  const std::int64_t id = must(store::add_receipt(m.db(), receipt));
  EXPECT_FALSE(must(store::last_given(m.db(), SessionId{1})));

  const WallTime first = m.clock.now();
  must(store::confirm_receipt(m.db(), id, first));
  m.clock.advance(std::chrono::hours(1));
  must(store::confirm_receipt(m.db(), id, m.clock.now()));
  EXPECT_EQ(must(store::last_given(m.db(), SessionId{1}))->given_at, first);
}

}  // namespace
}  // namespace cairn::test
