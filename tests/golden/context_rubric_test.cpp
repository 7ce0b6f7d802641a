// The layout that is used is the best of those that were tried, and as good as docs/context.md says.
#include <gtest/gtest.h>

#include "rubric.h"

namespace cairn::test {
namespace {

std::string list(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

TEST(ContextRubric, TheMixedLayoutAnswersMostWithinItsBudget) {
  const std::vector<Score> scores = score_contexts(2000);
  ASSERT_EQ(scores.size(), 3u);
  const Score& mixed = scores[0];
  EXPECT_GE(mixed.answered, 28) << "missed:" << list(mixed.missed);
  EXPECT_EQ(mixed.answered_newest, mixed.questions_newest) << "missed:" << list(mixed.missed);
  EXPECT_LE(mixed.tokens, 2000u);
  for (const Score& other : scores) EXPECT_GE(mixed.answered, other.answered) << other.layout;
}

}  // namespace
}  // namespace cairn::test
