// A disk that fails while a transcript is read.
#include <utility>

#include "unit/catch_up_fixture.h"

namespace cairn::test {
namespace {

class FailingDisk : public CatchUpTest, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Call, FailingDisk, ::testing::Values("stat", "open", "read", "list"));

TEST_P(FailingDisk, DoesNotEndTheRecoveryFromATranscript) {
  begin();
  transcript.save();
  TranscriptWriter subagent{m, chat, "", "a1"};
  subagent.wrote("lost.txt", "t1");
  subagent.save();
  bool failed = false;
  m.disk.on_call([&](std::string_view call, std::string_view path) {
    if (call != GetParam() || path.find(chat.session) == std::string_view::npos) return;
    failed = true;
    m.disk.fail_at(1, EIO, SimDisk::Calls::all);
  });
  host_dies();
  minute();
  EXPECT_TRUE(failed);
  EXPECT_EQ(calls(), Lines{});
  m.disk.on_call(nullptr);
  minute();
  EXPECT_EQ(calls(), (Lines{"t1|recovered|-"}));
  EXPECT_EQ(ledger()["recovered"].as_int(), 1);
  EXPECT_EQ(ledger()["gap"].as_int(), 0);
}

TEST_F(CatchUpTest, AFileThatCanBeReadWithinADayIsRecovered) {
  begin();
  transcript.wrote("a.txt", "t1");
  transcript.save();
  m.disk.on_call([&](std::string_view call, std::string_view path) {
    if (call == "open" && path.find(chat.session) != std::string_view::npos)
      m.disk.fail_at(1, EACCES, SimDisk::Calls::all);
  });
  host_dies();
  m.clock.advance(std::chrono::hours(23));
  minute();
  EXPECT_EQ(calls(), Lines{});
  m.disk.on_call(nullptr);
  minute();
  EXPECT_EQ(calls(), (Lines{"t1|recovered|-"}));
  EXPECT_EQ(ledger()["recovered"].as_int(), 1);
}

TEST_F(CatchUpTest, AFileThatCannotBeReadIsGivenUpAfterADay) {
  begin();
  transcript.wrote("a.txt", "t1");
  transcript.save();
  m.disk.on_call([&](std::string_view call, std::string_view path) {
    if (call != "open" || path.find(chat.session) == std::string_view::npos) return;
    m.disk.fail_at(1, EACCES, SimDisk::Calls::all);
  });
  host_dies();
  minute();
  EXPECT_EQ(m.number("SELECT transcript_due FROM sdk_sessions"), 1);
  m.clock.advance(std::chrono::hours(24));
  minute();
  EXPECT_EQ(m.number("SELECT transcript_due FROM sdk_sessions"), 0);
  m.disk.on_call(nullptr);
}

}  // namespace
}  // namespace cairn::test
