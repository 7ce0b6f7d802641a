// Full-text search: a query in, ranked records out. Reads the index (memory_index) that the store's triggers
// maintain.
//
// Project, kind, type, file and concept are words in the index and part of the full-text match; only dates
// are checked for each match. Ranked by BM25 over weighted fields. No query scans a table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/disk.h"
#include "recall/excerpt.h"
#include "recall/query.h"
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
  // Where the archive is, to search its transcripts too; null: they are left out.
  os::Disk* disk = nullptr;
  std::string archive;  // its directory
};

struct Share {
  std::string term;
  double score = 0;
};

struct Hit {
  Record record;
  std::optional<store::Passage> passage;  // of a transcript
  double score = 0;                       // larger is better; 0 when the query has only filters
  Marked title;
  Marked excerpt;              // empty when the title says it all
  std::vector<Share> shares;   // what each term adds to the score; with `explain`
  std::vector<RecordId> also;  // other records of its turn that match; with `by_turn`
};

struct Found {
  std::vector<Hit> hits;
  bool more = false;  // beyond limit + offset
  // Identifiers of the query that no record of the project contains in any spelling (parseHeader is
  // parse_header). Hits contain at most parts of them.
  std::vector<std::string> absent;
};

// Best first. Passages of transcripts come behind the records that contain all of the words, one for a
// session that has no such hit. A query with only filters gives the newest first; one that cannot match
// gives no hits. With `by_turn` a turn has the rank of its best record. It is shown by its best summary or
// observation, or by its prompt when only that matches.
Result<Found> search(store::Db& db, const Search& search);

}  // namespace cairn::recall
