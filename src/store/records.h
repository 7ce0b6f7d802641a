// The records that can be found: observations, summaries, prompts, texts of turns (answers, remarks, messages
// of commits), documents, open items and tool calls; and the search index over them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "event/origin.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

struct RecordId {
  RecordKind kind = RecordKind::observation;
  std::int64_t row = 0;
  bool operator==(const RecordId&) const = default;
};

// A record as a list shows it.
struct Record {
  RecordId id;
  std::string project;
  std::string session;  // content id
  std::optional<std::int64_t> prompt_number;
  std::string type;   // an observation's own; else its kind
  std::string title;  // on one line
  std::string body;   // the other indexed text
  std::string names;  // its files and concepts, a line each
  WallTime time;
  Origins origins;  // sources outside the project: of its events, and of quotes in its texts
};

// Nothing when it does not exist or is deleted. Passages are in passages.h.
Result<std::optional<Record>> load_record(Db& db, const RecordId& id);

// The summary of the turn that `record` belongs to; nothing when it has none.
Result<std::optional<Record>> summary_of(Db& db, const Record& record);

// The numbers of the events that a record came from: those an observation or an open item names; those of the
// turn of a summary or a text; a prompt's own.
Result<std::vector<std::int64_t>> evidence_of(Db& db, const RecordId& id, std::int64_t limit);

// The position of an observation, a summary or a prompt in time.
struct Neighbour {
  WallTime time;
  std::int64_t row = 0;
};
// The records of a project that are later (or earlier) than `of`, nearest first.
Result<std::vector<Neighbour>> neighbours(Db& db, RecordKind kind, const std::string& project,
                                          const Neighbour& of, bool later, std::size_t limit);

// An entry of the search index that matches a query in FTS5's language.
struct Entry {
  RecordId id;
  double score = 0;
  std::int64_t time = 0;  // of newest_entries()
};
struct Period {
  std::optional<WallTime> since, until;
};
Result<std::vector<Entry>> best_entries(Db& db, const std::string& match, const Period& period,
                                        std::size_t limit);
// For queries with only filters. Within a kind the newest records have the largest ids.
Result<std::vector<Entry>> newest_entries(Db& db, const std::string& match, const Period& period,
                                          std::size_t limit);

}  // namespace cairn::store
