// Search: a query in, ranked records out. Finds observations, summaries, prompts, texts of turns, documents
// and open items (rank.h says how they are ranked), passages of archived transcripts and tool calls.
//
// Project, kind, type, file and concept are words in the index and part of the match; only dates and hosts
// are checked for each match. No query reads more than a bounded number of entries.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/disk.h"
#include "recall/excerpt.h"
#include "recall/query.h"
#include "recall/rank.h"
#include "recall/record.h"
#include "store/passages.h"
#include "store/sql.h"

namespace cairn::recall {

struct Search {
  Query query;
  std::optional<std::string> project;  // nothing: all projects
  std::size_t limit = 20;
  std::size_t offset = 0;
  bool explain = false;
  bool by_turn = false;  // one hit per turn; limit and offset count turns
  // Where the archive is, to search its transcripts too, and the working trees; null: they are left out.
  os::Disk* disk = nullptr;
  std::string archive;  // its directory
};

struct Hit {
  Record record;
  std::optional<store::Passage> passage;  // of a transcript
  double score = 0;                       // larger is better; 0 when the query has only filters
  Marked title;
  Marked excerpt;                     // empty when the title says it all
  double covered = 0;                 // how much of the query it has, from 0 to 1
  std::vector<Share> shares;          // what each word and each feature adds to the score; with `explain`
  std::vector<RecordId> also;         // other records of its turn that match; with `by_turn`
  std::optional<RecordId> successor;  // the record that replaces it
  bool is_stale = false;              // a file that it is about changed since
};

struct Found {
  std::vector<Hit> hits;
  bool more = false;  // beyond limit + offset
  // Identifiers of the query that no record of the project contains in any spelling (parseHeader is
  // parse_header). Hits contain at most parts of them.
  std::vector<std::string> absent;
};

// Best first. A passage of a transcript or a tool call is a hit of its own, one for a turn, unless a record
// of that turn has all of its words and comes before it. A query with only filters gives the newest first;
// one that cannot match gives no hits. With `by_turn` a turn has the rank of its best record. It is shown by
// its best summary or observation, or by its prompt when only that matches.
Result<Found> search(store::Db& db, const Search& search);

}  // namespace cairn::recall
