// Whether a context answers what the next session is likely to ask: questions about the written sessions,
// with the words that answer them (rubric.json). All sessions are played in one project, one after another,
// so that the budget does not hold everything and has to be spent well.
#pragma once

#include <string>
#include <vector>

#include "context/composer.h"

namespace cairn::test {

struct Score {
  int answered = 0;
  int questions = 0;
  int answered_newest = 0;  // of the three newest sessions
  int questions_newest = 0;
  std::size_t tokens = 0;
  std::vector<std::string> missed;  // "session: question"
  double part() const { return questions == 0 ? 0 : static_cast<double>(answered) / questions; }
};

Score score_context(std::size_t budget_tokens);

}  // namespace cairn::test
