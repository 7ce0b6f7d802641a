// The candidates of a search with what was said around them in their sessions, the words of the query counted
// in each.
//
// Neighbours are exact: two records are linked only where nothing was said between them in their project.
// Belongs to one thread; borrows what it is made from.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "recall/words.h"
#include "store/ranking.h"
#include "store/sql.h"

namespace cairn::recall {

inline constexpr std::size_t kReach = 4;  // neighbours on each side that count for a record

// A record with what counts for its score.
struct Row {
  store::RankedText text;
  WordCounter::Found title, body, names;
  double length = 0;
  bool is_candidate = false;
  // What was said directly before and after it; null where that was not read.
  Row* before = nullptr;
  Row* after = nullptr;
  bool is_first = false, is_last = false;  // nothing was said before it, after it
};

class Surroundings {
 public:
  // `add_neighbours`: what is near a very good candidate is a candidate too. Not with filters, which only
  // the index can check.
  Surroundings(store::Db& db, WordCounter& counter, bool add_neighbours)
      : db_(db), counter_(counter), add_neighbours_(add_neighbours) {}

  // Reads candidates, the best first, and what is around them. `scope`: the projects they must be of; none:
  // any.
  Status read(const std::vector<store::Entry>& candidates, const std::vector<std::string>& scope);

  template <class Visit>
  void each_candidate(Visit visit) const {
    for (const auto& [session, rows] : sessions_)
      for (const auto& [key, row] : rows)
        if (row.is_candidate) visit(row);
  }
  // The average length of what was read.
  double average() const;

 private:
  using Key = std::tuple<std::int64_t, int, std::int64_t>;  // the order in a session
  static Key key_of(const store::RankedText& text);

  Row& take(store::RankedText text);
  Status surround(Row& row, std::size_t reach);
  Status read_side(Row& row, bool later, std::size_t reach);
  void add_near(Row& row);

  store::Db& db_;
  WordCounter& counter_;
  bool add_neighbours_;
  std::map<std::int64_t, std::map<Key, Row>> sessions_;
  double bytes_ = 0;
  std::size_t rows_ = 0;
};

}  // namespace cairn::recall
