// Turns that are summarised as they grow: the same result as reading the whole turn, at a cost that does not
// depend on what was read before.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <random>

#include "intake/summarise.h"
#include "store/sessions.h"
#include "store/turns.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

class Digests : public testing::Test {
 protected:
  Digests() { must(m.open()); }

  // Another session of the project starts: open turns get their interim summaries.
  void ask() {
    Chat other;
    other.session = "other-" + std::to_string(++others);
    m.ask(other.start());
  }

  // Everything that is derived from turns.
  std::vector<std::string> derived() {
    std::vector<std::string> all;
    for (
        const char* sql :
        {"SELECT 'S', prompt_number, interim, request, investigated, learned, completed, next_steps, notes, "
         "files_read, files_edited, discovery_tokens, created_at_epoch FROM session_summaries ORDER BY "
         "memory_session_id, prompt_number",
         "SELECT 'O', id, batch_id, position, type, title, subtitle, facts, narrative, concepts, files_read, "
         "files_modified, discovery_tokens, created_at_epoch FROM observations ORDER BY id",
         "SELECT 'E', observation_id, event_seq, batch_id FROM observation_evidence ORDER BY 2, 3",
         "SELECT 'I', id, source, state, key, text, detail, event_seq, closed_at_epoch FROM open_items ORDER "
         "BY id",
         "SELECT 'T', kind, text, prompt_number FROM texts ORDER BY id"})
      for (const std::string& row : m.rows(sql)) all.push_back(row);
    return all;
  }

  // Reads the turn again from its first event.
  void distil_whole(std::int64_t number) {
    const auto session = must(store::find_session(m.db(), "claude-code", ContentId{chat.session}));
    const auto turn = must(store::find_turn(m.db(), session->id, number));
    must(store::in_transaction(m.db(), [&]() -> Status {
      TRY(intake::distil_turn(m.db(), *session, *turn, distil::code_mode(), {}, m.clock.now()));
      return {};
    }));
  }

  // An event of a turn at work, chosen by `random`.
  HookCall some_event(std::mt19937& random, int number) {
    const std::string use = "use-" + std::to_string(number), earlier = "use-" + std::to_string(number - 1);
    const std::string file = chat.cwd + "/src/part" + std::to_string(random() % 5) + ".cpp";
    const Json command = Json::object({{"command", random() % 2 ? "make test" : "git commit -m 'Fix it'"}});
    switch (random() % 8) {
      case 0: return chat.wrote(file, use);
      case 1: return chat.ran("grep -rn main src", use);
      case 2: return chat.tool("Bash", use, command, Json::object({{"stdout", "12 passed"}}));
      case 3: return chat.tool_failure("Bash", use, command, "Exit code 1\n1 test FAILED: parser.reads");
      case 4: return chat.before_tool("Bash", use, command);
      case 5: return chat.tool("Bash", earlier, command, Json::object({{"stdout", "[main 1a2b3c4] Fix it"}}));
      case 6:
        return chat.tool("Read", use, Json::object({{"file_path", file}}),
                         Json::object({{"file", Json::object({{"content", "int main() {}"}})}}));
      default:
        return chat.tool("TaskCreate", use, Json::object({{"subject", "Check part " + use}}),
                         Json::object({{"task", Json::object({{"id", use}})}}));
    }
  }

  std::int64_t changes() { return m.number("SELECT total_changes()"); }

  Machine m;
  Chat chat;
  int others = 0;
};

TEST_F(Digests, GrowingTurnsSayWhatTheWholeTurnSays) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    chat.session = "session-" + std::to_string(seed);
    m.tell(chat.prompt("Make the parser faster"));
    for (int i = 0; i < 40; ++i) {
      m.deliver(some_event(random, i));
      if (random() % 3 == 0) must(m.drain());
      if (random() % 5 != 0) continue;
      ask();
      const auto grown = derived();
      distil_whole(1);
      ASSERT_EQ(derived(), grown);
    }
    m.tell(chat.stop("The parser is faster now. Next: measure it."));
    m.deliver(some_event(random, 41));  // late
    must(m.drain());
    const auto grown = derived();
    distil_whole(1);
    ASSERT_EQ(derived(), grown);
  }
}

TEST_F(Digests, ARestartContinuesWithTheWholeTurn) {
  std::mt19937 random(7);
  m.tell(chat.prompt("Make the parser faster"));
  for (int i = 0; i < 20; ++i) m.tell(some_event(random, i));
  ask();
  must(m.open());
  for (int i = 20; i < 25; ++i) m.tell(some_event(random, i));
  ask();
  const auto grown = derived();
  distil_whole(1);
  EXPECT_EQ(derived(), grown);
}

TEST_F(Digests, AnUnchangedTurnIsNotWrittenAgain) {
  m.tell(chat.prompt("Make the parser faster"));
  for (int i = 0; i < 5; ++i) m.tell(chat.wrote("a" + std::to_string(i) + ".cpp", "t" + std::to_string(i)));
  ask();
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries WHERE interim = 1"), 1);
  const auto cost_of_ask = [&] {
    const std::int64_t before = changes();
    ask();
    return changes() - before;
  };
  const std::int64_t unchanged = cost_of_ask();
  m.tell(chat.wrote("b.cpp", "t9"));
  EXPECT_GT(cost_of_ask(), unchanged);
  EXPECT_EQ(cost_of_ask(), unchanged);
  EXPECT_EQ(m.number("SELECT count(*) FROM turns WHERE changed = 1"), 0);
}

TEST_F(Digests, ATextThatStayedTheSameKeepsItsPlaceInTheIndex) {
  m.tell(chat.prompt("Make the parser faster"));
  m.tell(chat.wrote("a.cpp", "t1"));
  m.tell(chat.stop("It is faster."));
  const std::string before =
      m.text("SELECT group_concat(id || ':' || updated_at_epoch) FROM session_summaries");
  const auto index_rows = [&] { return m.text("SELECT group_concat(hex(block)) FROM memory_index_data"); };
  const std::string index = index_rows();
  m.clock.advance(std::chrono::minutes(2));
  distil_whole(1);
  EXPECT_EQ(index_rows(), index);
  EXPECT_EQ(m.text("SELECT group_concat(id || ':' || updated_at_epoch) FROM session_summaries"), before);
}

TEST_F(Digests, LateEventsOfAnEndedTurnCostOneSummary) {
  m.tell(chat.prompt("Make the parser faster"));
  m.tell(chat.wrote("a.cpp", "t1"));
  m.tell(chat.stop("It is faster."));
  for (int i = 0; i < 5; ++i)
    m.deliver(chat.wrote("late" + std::to_string(i) + ".cpp", "l" + std::to_string(i)));
  ASSERT_TRUE(must(m.engine->step()));
  EXPECT_EQ(m.number("SELECT count(*) FROM turns WHERE changed = 1"), 1);
  EXPECT_EQ(m.text("SELECT files_edited FROM session_summaries").find("late"), std::string::npos);
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(*) FROM turns WHERE changed = 1"), 0);
  EXPECT_NE(m.text("SELECT files_edited FROM session_summaries").find("late4.cpp"), std::string::npos);
}

TEST_F(Digests, AProjectThatIsAskedForShowsLateEventsAtOnce) {
  m.tell(chat.prompt("Make the parser faster"));
  m.tell(chat.stop("It is faster."));
  m.deliver(chat.wrote("late.cpp", "l1"));
  ASSERT_TRUE(must(m.engine->step()));
  ask();
  EXPECT_NE(m.text("SELECT files_edited FROM session_summaries WHERE prompt_number = 1").find("late.cpp"),
            std::string::npos);
}

TEST_F(Digests, ANotificationAfterTheEndChangesNoSummary) {
  m.tell(chat.prompt("Make the parser faster"));
  m.tell(chat.stop("It is faster."));
  m.deliver(chat.call("Notification", {{"message", "Claude is waiting for your input"}}));
  ASSERT_TRUE(must(m.engine->step()));
  EXPECT_EQ(m.number("SELECT count(*) FROM turns WHERE changed = 1"), 0);
}

TEST_F(Digests, ManyOpenTurnsAreSummarisedAfterTheAnswer) {
  for (int i = 0; i < 40; ++i) {
    chat.session = "session-" + std::to_string(i);
    m.deliver(chat.prompt("Make part " + std::to_string(i) + " faster"));
    m.deliver(chat.wrote("part" + std::to_string(i) + ".cpp", "t" + std::to_string(i)));
  }
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 0);
  Chat other;
  other.session = "other";
  const EventId id = m.deliver(other.start());
  const auto answer = must(m.engine->answer(id, m.clock.boot_ns() + 3'000'000'000));
  EXPECT_NE(Machine::context_of(answer).find("Make part 39 faster"), std::string::npos);
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 16);
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 40);
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions WHERE changed = 1"), 0);
}

TEST_F(Digests, ACallThatWasCorrectedIsReadAgain) {
  m.tell(chat.prompt("Make the parser faster"));
  m.tell(chat.tool("Bash", "t1", Json::object({{"command", "make test"}}), Json::object({{"stdout", "ok"}})));
  ask();
  intake::Recorder& recorder = m.engine->recorder();
  must(store::in_transaction(m.db(), [&]() -> Status {
    const auto session = TRY(store::find_session(m.db(), "claude-code", ContentId{chat.session}));
    TRY(recorder.correct_to_failure(session->id, "t1", "Exit code 2\nparser.cpp:1: error: no such file"));
    return recorder.finish();
  }));
  const auto grown = derived();
  distil_whole(1);
  EXPECT_EQ(derived(), grown);
  EXPECT_NE(m.text("SELECT group_concat(summary_text) FROM session_summaries").find("failed"),
            std::string::npos);
  EXPECT_EQ(
      m.number("SELECT count(*) FROM payloads p WHERE NOT EXISTS (SELECT 1 FROM evidence v WHERE p.id IN "
               "(v.input_payload, v.response_payload, v.extra_payload))"),
      0)
      << "the first response is gone";
}

// The work of SQLite for the start of a session beside an open turn with that many calls, of which the last
// came just before.
std::int64_t steps_beside(int calls) {
  Machine m;
  must(m.open());
  Chat chat;
  m.deliver(chat.prompt("Make the parser faster"));
  for (int i = 0; i < calls; ++i)
    m.deliver(chat.wrote("part" + std::to_string(i % 7) + ".cpp", "t" + std::to_string(i)));
  must(m.drain());
  Chat other;
  other.session = "first";
  m.ask(other.start());
  m.tell(chat.wrote("last.cpp", "last"));
  other.session = "second";
  const EventId id = m.deliver(other.start());
  std::int64_t steps = 0;
  sqlite3_progress_handler(
      m.db().raw(), 1,
      [](void* count) {
        ++*static_cast<std::int64_t*>(count);
        return 0;
      },
      &steps);
  must(m.engine->answer(id, m.clock.boot_ns() + 3'000'000'000));
  sqlite3_progress_handler(m.db().raw(), 0, nullptr, nullptr);
  return steps;
}

TEST(DigestCost, DoesNotGrowWithTheOpenTurn) {
  const std::int64_t small = steps_beside(20), large = steps_beside(1000);
  EXPECT_LT(large, 2 * small) << small << " steps beside 20 calls";
}

}  // namespace
}  // namespace cairn::test
