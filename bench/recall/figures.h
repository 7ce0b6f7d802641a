// The figures of a ranking: how much of what answers a question is among the first ten.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cairn::bench {

// Sums over questions; recall and gain are per question.
struct Figures {
  int questions = 0;
  double recall10 = 0, recall3 = 0, gain10 = 0, hit3 = 0;

  // `found`: ids, the best first. `right`: the ids that answer.
  void add(const std::vector<std::string>& found, const std::set<std::string>& right) {
    double gain = 0, ideal = 0, in10 = 0, in3 = 0;
    std::set<std::string> seen;
    for (std::size_t i = 0, rank = 0; i < found.size() && rank < 10; ++i) {
      if (!seen.insert(found[i]).second) continue;
      ++rank;
      if (!right.contains(found[i])) continue;
      gain += 1 / std::log2(static_cast<double>(rank) + 1);
      in10 += 1;
      if (rank <= 3) in3 += 1;
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(right.size(), 10); ++i)
      ideal += 1 / std::log2(static_cast<double>(i) + 2);
    const auto all = static_cast<double>(right.size());
    ++questions;
    recall10 += in10 / all;
    recall3 += in3 / all;
    hit3 += in3 > 0 ? 1 : 0;
    gain10 += gain / ideal;
  }

  Json json() const {
    const auto percent = [&](double sum) { return std::round(1000 * sum / std::max(questions, 1)) / 10; };
    return Json::object({{"r@10", percent(recall10)},
                         {"ndcg@10", percent(gain10)},
                         {"r@3", percent(recall3)},
                         {"hit@3", percent(hit3)},
                         {"questions", questions}});
  }
};

// Conversations of people: evidence is a turn of the conversation that is searched.
Result<Json> run_locomo(const std::string& file);
// Our own written sessions: evidence is a turn of a session.
Result<Json> run_own(const std::string& file);
// Latency and indexing at so many rows, as ratios to plain FTS5 in the same run.
Result<Json> run_speed(std::int64_t rows);

}  // namespace cairn::bench
