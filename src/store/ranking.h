// What ranking reads of the store: how frequent words are, which entries may match, and the texts of records
// with those that came before and after them in their session.
//
// Every function looks at a bounded number of entries, however large the index is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/records.h"
#include "store/sql.h"

namespace cairn::store {

// How many entries of the search index match a query in FTS5's language. Exact up to `limit`; beyond, it is
// estimated from how close together the newest ones are.
Result<double> estimated_matches(Db& db, const std::string& match, std::size_t limit);
// In how many entries a word is, estimated in the same way: in any field, and in the entry's own text.
struct Frequency {
  double any = 0, own = 0;
};
// `any` and `own` are the queries for the two; what matches `own` also matches `any`.
Result<Frequency> estimated_frequency(Db& db, const std::string& any, const std::string& own,
                                      std::size_t limit);
// The number of entries of the index, estimated.
Result<double> estimated_entries(Db& db);
// Whether every project is one of these.
Result<bool> are_all_projects(Db& db, const std::vector<std::string>& projects);

// The entries with the best bm25() among the newest `scan` that match; with a period among those in it.
Result<std::vector<Entry>> candidates(Db& db, const std::string& match, const Period& period,
                                      std::size_t scan, std::size_t limit);

// A record as ranking reads it: without what only a list shows.
struct RankedText {
  RecordId id;
  std::int64_t session = 0;  // its row; 0: it belongs to none
  std::string project;
  std::optional<std::int64_t> prompt_number;
  std::int64_t at = 0;  // epoch ms
  std::string type;     // an observation's type, a text's kind
  std::string title, body, names;
};
// Nothing when it is gone or not indexed.
Result<std::optional<RankedText>> ranked_text(Db& db, const RecordId& id);

// What was said in a session before (with `later`: after) `anchor`, nearest first: prompts, texts and
// observations, at most `limit` of each. Texts are cut to `bytes`. `anchor` itself is left out.
Result<std::vector<RankedText>> said_around(Db& db, std::int64_t session, const RankedText& anchor,
                                            bool later, std::size_t limit, std::size_t bytes);

}  // namespace cairn::store
