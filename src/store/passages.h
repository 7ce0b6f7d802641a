// The search index over the archive's lines. A passage is some consecutive lines of one turn; the index has
// their words, the archive has their text.
//
// Functions that write run in the caller's transaction, on the writer's connection. A passage is removed
// together with its backup.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/archive.h"
#include "store/event_index.h"
#include "store/records.h"
#include "store/sql.h"

namespace cairn::store {

// A base that has lines which are not indexed yet.
struct UnindexedBase {
  BackupBase base;
  std::int64_t lines = 0;  // the number of lines that are indexed
  std::string state;       // as it was given to add_passages()
};
// The newest one. Copies that did not pass the gate are never indexed.
Result<std::optional<UnindexedBase>> next_unindexed(Db& db);

struct NewPassage {
  std::int64_t first_line = 0, last_line = 0;
  WallTime at;
  std::string prompt_id;
  std::string text;
};
// Adds what was read of `base`, up to its line `lines`.
Status add_passages(Db& db, std::int64_t base, const std::vector<NewPassage>& passages, std::int64_t lines,
                    std::string_view state);

struct Passage {
  std::int64_t id = 0;
  BackupBase base;
  std::int64_t first_line = 0, last_line = 0;
  WallTime at;
  std::string prompt_id;
  std::string project;  // of its session; empty: unknown
  std::optional<std::int64_t> prompt_number;
  std::int64_t backup = 0;  // the newest version with these lines
};
// Nothing when it is gone.
Result<std::optional<Passage>> find_passage(Db& db, std::int64_t id);

// The best among the newest `scan` passages that match a query in FTS5's language, best first. `projects`:
// only theirs; none: of all.
Result<std::vector<LongMatch>> best_passages(Db& db, const std::string& match,
                                             const std::vector<std::string>& projects, const Period& period,
                                             std::size_t scan, std::size_t limit);

// Removes what is indexed of a turn.
Status forget_passages(Db& db, SessionId session, std::int64_t number);
// Removes everything that is indexed: the archive is indexed again.
Status clear_passages(Db& db);

// The passages of a base that have one of the lines from `first` to `last`.
Result<std::vector<std::int64_t>> passages_with(Db& db, std::int64_t base, std::int64_t first,
                                                std::int64_t last);
// Indexes a passage again, after its lines changed.
Status reindex_passage(Db& db, std::int64_t id, std::string_view text);

}  // namespace cairn::store
