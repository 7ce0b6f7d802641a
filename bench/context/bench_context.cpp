// How many questions the context answers within a budget, as JSON. `bench_context 1000` asks with another
// budget than 2,000 tokens.
#include <fmt/format.h>

#include <cstdlib>

#include "base/json.h"
#include "rubric.h"

int main(int argc, char** argv) {
  const std::size_t budget = argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : 2000;
  const cairn::test::Score score = cairn::test::score_context(budget);
  cairn::Json missed = cairn::Json::array();
  for (const std::string& question : score.missed) missed.push(question);
  fmt::print("{}\n", cairn::Json::object({{"answered", score.answered},
                                          {"questions", score.questions},
                                          {"answered_newest", score.answered_newest},
                                          {"questions_newest", score.questions_newest},
                                          {"tokens", score.tokens},
                                          {"missed", missed}})
                         .dump(2));
}
