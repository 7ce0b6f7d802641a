// The search index over tool calls: the input of a tool, and the beginning and the end of its output. The
// index has their words, the evidence has their texts.
//
// Functions that write run in the caller's transaction, on the writer's connection. An entry is removed
// together with its evidence.
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

// The newest events whose evidence is not indexed yet.
Result<std::vector<std::int64_t>> events_to_index(Db& db, std::size_t limit);
// Indexes one event that is not indexed yet. Call it in the order of event numbers: any other order is slow.
Status index_event(Db& db, std::int64_t seq, std::string_view input, std::string_view output);
// Removes these events from the index until they are indexed again: their texts change.
Status index_again(Db& db, const std::vector<std::int64_t>& events);
// Marks an event that has no text to index.
Status skip_event(Db& db, std::int64_t seq);

// A long text that matches: a tool call or a passage of a transcript.
struct LongMatch {
  RecordId id;
  double score = 0;
  std::string session;  // the host's id
  std::optional<std::int64_t> prompt_number;
};
// The best among the newest `scan` calls that match a query in FTS5's language, best first. `projects`: only
// theirs; none: of all.
Result<std::vector<LongMatch>> best_events(Db& db, const std::string& match,
                                           const std::vector<std::string>& projects, const Period& period,
                                           std::size_t scan, std::size_t limit);
// The newest calls that match: for what worked last.
Result<std::vector<std::int64_t>> newest_events(Db& db, const std::string& match,
                                                const std::vector<std::string>& projects, std::size_t limit);
// Which of these rows of an index (event_index, passage_index) match.
Result<std::vector<std::int64_t>> rows_that_match(Db& db, RecordKind kind, const std::string& match,
                                                  const std::vector<std::int64_t>& rows);

struct EventIndexSize {
  std::int64_t events = 0, bytes = 0, waiting = 0;
};
Result<EventIndexSize> event_index_size(Db& db);

}  // namespace cairn::store
