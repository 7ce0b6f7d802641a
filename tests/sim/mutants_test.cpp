// The simulation finds mistakes: copies of a few sources, made by sim.cmake and linked here in place of the
// originals, make one mistake each when `mutation` asks for it.
#include <gtest/gtest.h>

#include "sim/mutation.h"
#include "sim/runner.h"

namespace cairn::sim {

int mutation = 0;

namespace {

// Whether some of three hundred schedules fail when the code makes that mistake; says the first that does.
bool is_caught(int mistake) {
  mutation = mistake;
  const auto report = run_seeds_at_once(1, 300, 1);
  mutation = 0;
  if (report) std::printf("%s\n", report->substr(0, report->find('\n')).c_str());
  return report.has_value();
}

TEST(Mutant, ThatForgetsWhatADeadDaemonHadInWorkIsCaught) {
  EXPECT_TRUE(is_caught(1));
}

TEST(Mutant, ThatRemovesFilesBeforeTheCommitIsCaught) {
  EXPECT_TRUE(is_caught(2));
}

TEST(Mutant, ThatIgnoresTheWindowOfDuplicatesIsCaught) {
  EXPECT_TRUE(is_caught(3));
}

TEST(Mutant, ThatReliesOnDataThatWasNeverSyncedIsCaught) {
  EXPECT_TRUE(is_caught(4));
}

TEST(Mutant, ThatClaimsMessagesBackwardsIsCaught) {
  EXPECT_TRUE(is_caught(5));
}

TEST(Mutant, ThatForgetsWithoutATombstoneIsCaught) {
  EXPECT_TRUE(is_caught(6));
}

TEST(Mutant, ThatReadsALatePromptBeforeOlderEventsOfItsSessionIsCaught) {
  EXPECT_TRUE(is_caught(7));
}

TEST(Mutant, ThatRemovesFilesBeforeTheSyncIsCaught) {
  EXPECT_TRUE(is_caught(8));
}

TEST(Mutant, WithoutAMistakeTheCopiesPass) {
  const auto failed = run_seeds(1, 20);
  EXPECT_FALSE(failed) << *failed;
}

}  // namespace
}  // namespace cairn::sim
