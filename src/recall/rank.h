// Ranks records for a query.
//
// The index gives candidates that have any of the query's rarer words, a limited number however large it is.
// Each is scored by BM25F over its own fields, its date and its neighbours in its session, plus a few
// features: adjacent words, whole identifiers, files, recency. All of them are sums, so that `--explain` can
// show the share of each.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "recall/query.h"
#include "recall/times.h"
#include "recall/words.h"
#include "store/ranking.h"
#include "store/sql.h"

namespace cairn::recall {

struct Share {
  std::string term;  // a word of the query in quotes, or the name of a feature
  double score = 0;
};

// A turn: the row of its session, the number of its prompt.
using Turn = std::pair<std::int64_t, std::int64_t>;
// The turn of a record; nothing when it belongs to none.
std::optional<Turn> turn_of(const store::RankedText& text);

struct RankedRecord {
  store::RecordId id;
  std::optional<Turn> turn;
  double score = 0;
  double covered = 0;  // the share of the query's words that it has, by their weight; from 0 to 1
  std::vector<Share> shares;
};

// What is asked, in the index's terms.
struct Asked {
  std::vector<QueryWord> words;
  std::vector<std::string> must;   // filters and phrases in FTS5's language
  std::string none_of;             // " NOT ..." or empty
  std::vector<std::string> scope;  // projects; none: all
  bool is_everything = false;      // there are no other projects: the index need not compare them
  store::Period period;
  std::optional<Span> about;  // the time that the query names
  std::string file;           // a file that is asked for
  WallTime now;

  bool is_in_scope(const std::string& project) const;
  // The sum of the words' weights.
  double weight() const;
  // The FTS5 query for entries in scope that match `expression`.
  std::string match(const std::string& expression) const;
};

// Estimates how frequent the words are and weighs them. Also finds out whether the scope is
// every project.
Status weigh(store::Db& db, Asked& asked);

// The best records, at most `limit`. `explain`: with shares.
Result<std::vector<RankedRecord>> rank(store::Db& db, const store::IndexTerms& index, const Asked& asked,
                                       std::size_t limit, bool explain);

// The score of a long text that has these words, on the same scale: passages of transcripts and events,
// whose words are looked up in their index.
double score_of_long_text(const Asked& asked, const std::vector<bool>& has);

}  // namespace cairn::recall
