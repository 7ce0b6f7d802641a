// The context answers what the next session is likely to ask.
#include <gtest/gtest.h>

#include "rubric.h"

namespace cairn::test {
namespace {

std::string list(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

TEST(ContextRubric, MostQuestionsAreAnsweredWithinTheBudget) {
  const Score score = score_context(2000);
  // Of 28 questions. The answers to the others are only in observations and commands, not in the agent's own
  // words.
  EXPECT_GE(score.answered, 23) << "missed:" << list(score.missed);
  EXPECT_GE(score.answered_newest, 9) << "missed:" << list(score.missed);
  EXPECT_LE(score.tokens, 2000u);
}

}  // namespace
}  // namespace cairn::test
