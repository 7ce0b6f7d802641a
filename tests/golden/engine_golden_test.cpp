// Everything the real host sent, through the real engine: the store and the context, word for word.
//
// CAIRN_UPDATE_GOLDEN=1 writes tests/golden/expected/ anew; read the difference before you keep it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "golden/engine_dump.h"
#include "support/temp_dir.h"

namespace cairn::test {
namespace {

void deliver(Machine& machine, const RecordedCall& recorded) {
  machine.clock.set_wall(time_of(recorded));
  machine.project_dir = recorded.project_dir;
  machine.deliver(recorded.call);
}

std::int64_t tool_events(const std::vector<RecordedCall>& calls) {
  return std::count_if(calls.begin(), calls.end(), [](const RecordedCall& recorded) {
    return recorded.call.event == "PostToolUse" || recorded.call.event == "PostToolUseFailure";
  });
}

// Whatever the order: each delivered event is settled once, tool events are all there, nothing waits.
void expect_settled(Machine& machine, const std::vector<RecordedCall>& calls) {
  EXPECT_EQ(machine.number("SELECT count(*) FROM events"),
            static_cast<std::int64_t>(machine.delivered.size()));
  EXPECT_EQ(machine.number("SELECT count(DISTINCT event_id) FROM events"),
            static_cast<std::int64_t>(machine.delivered.size()));
  EXPECT_EQ(machine.number("SELECT count(*) FROM events WHERE kind IN ('tool', 'tool_failure') AND outcome = "
                           "'stored'"),
            tool_events(calls));
  EXPECT_EQ(machine.number("SELECT count(*) FROM events WHERE outcome = 'bad'"), 0);
  EXPECT_EQ(must(machine.engine->waiting()), 0u);
  EXPECT_TRUE(machine.db().integrity_check().ok());
}

class Recorded : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    calls_ = recorded_calls(GetParam());
    must(machine_.open());
  }

  Machine machine_;
  std::vector<RecordedCall> calls_;
};

TEST_P(Recorded, BecomesExactlyThisMemory) {
  for (const RecordedCall& recorded : calls_) deliver(machine_, recorded);
  must(machine_.drain());
  expect_settled(machine_, calls_);
  const std::string got = dump(machine_);
  const std::string file = std::string(CAIRN_TESTS_DIR) + "/golden/expected/" + GetParam() + ".txt";
  if (std::getenv("CAIRN_UPDATE_GOLDEN")) write_file(file, got);
  EXPECT_EQ(read_text(file), got) << "if this is right: CAIRN_UPDATE_GOLDEN=1 writes it down";
}

TEST_P(Recorded, IsTheSameMemoryWhenReadEventByEvent) {
  Machine live;
  must(live.open());
  for (const RecordedCall& recorded : calls_) {
    deliver(machine_, recorded);
    deliver(live, recorded);
    must(live.drain());
  }
  must(machine_.drain());
  EXPECT_EQ(dump_memory(live), dump_memory(machine_));
}

TEST_P(Recorded, DeliveredTwiceIsTheSameMemoryAndCountedDuplicates) {
  Machine once;
  must(once.open());
  for (const RecordedCall& recorded : calls_) {
    deliver(once, recorded);
    deliver(machine_, recorded);
    deliver(machine_, recorded);
  }
  must(once.drain());
  must(machine_.drain());
  expect_settled(machine_, calls_);
  EXPECT_EQ(dump_memory(machine_), dump_memory(once));
  const auto counted = [](Machine& machine, const std::string& outcome) {
    return machine.number("SELECT count(*) FROM events WHERE outcome = '" + outcome + "'");
  };
  EXPECT_EQ(counted(machine_, "stored"), counted(once, "stored"));
  EXPECT_EQ(counted(machine_, "duplicate"), counted(once, "stored") + 2 * counted(once, "duplicate"));
}

TEST_P(Recorded, BackwardsLosesNothing) {
  for (auto recorded = calls_.rbegin(); recorded != calls_.rend(); ++recorded) deliver(machine_, *recorded);
  must(machine_.drain());
  expect_settled(machine_, calls_);
}

TEST_P(Recorded, ShuffledLosesNothing) {
  const unsigned seeds = std::getenv("CAIRN_FULL") ? 20 : 2;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    Machine machine;
    must(machine.open());
    std::vector<RecordedCall> shuffled = calls_;
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(seed));
    // Often, but not so often that a long turn is distilled again for every late event.
    const std::size_t every = std::max<std::size_t>(3, shuffled.size() / 30);
    for (std::size_t i = 0; i < shuffled.size(); ++i) {
      deliver(machine, shuffled[i]);
      if (i % every == seed % every) must(machine.drain());
    }
    must(machine.drain());
    expect_settled(machine, calls_);
    // Nothing stays in work once every turn is ended by hand.
    must(machine.engine->end_open_turns());
    must(machine.drain());
    EXPECT_EQ(machine.number("SELECT count(*) FROM pending_messages WHERE status <> 'processed'"), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Recorded, testing::ValuesIn(recorded_scenarios()),
                         [](const auto& scenario) { return scenario.param; });

}  // namespace
}  // namespace cairn::test
