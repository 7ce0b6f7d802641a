// Rewrites texts in place, in every table, to remove what was forgotten.
//
// A compressed text is decompressed and compressed again, and its hash is computed again. A record
// of which nothing is left is deleted. The search index follows by its triggers. Names that other rows refer
// to (projects, sessions, paths of transcripts) and states are not texts and stay.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/sql.h"
#include "store/standing.h"

namespace cairn::store {

// The text after a change. `left`: whether anything but the marks of what was removed is left of it.
// ChangeText gives nothing for a text that stays.
struct Changed {
  std::string text;
  bool left = true;
};
using ChangeText = std::function<std::optional<Changed>(std::string_view text)>;

// A place in the walk over all tables: "TABLE ROW". Empty: the beginning.
struct ScrubStep {
  std::string position;         // where to go on; empty: it was the last
  std::int64_t texts = 0;       // that were looked at
  std::int64_t found = 0;       // that were to be changed
  std::vector<std::string> in;  // their tables
};

// Called in the same transaction for each record that was deleted because nothing was left of it.
using RecordGone = std::function<Status(const std::string& uuid)>;

// Looks at some rows, and changes them in a transaction of its own unless `only_look`. Stops at the first row
// after `enough` says so.
Result<ScrubStep> scrub_rows(Db& db, const std::string& position, const ChangeText& change, bool only_look,
                             const std::function<bool()>& enough, const RecordGone& gone = nullptr);

// The words that cairn itself writes: the schema's own text, and the values of columns with fixed states.
// They are in the database's file whatever is forgotten.
Result<std::string> own_words(Db& db);

// Calls `visit` for every record that is a text a person could look for, hidden ones included, with its
// project, its session's row and its turn (0: none). `project`: only of the projects it shows.
struct RecordText {
  RecordName record;
  std::string project;
  std::int64_t session = 0, prompt_number = 0;
  std::vector<std::string> parts;  // its fields
};
Status for_each_record_text(Db& db, const std::optional<std::string>& project,
                            const std::function<void(const RecordText&)>& visit);
Result<std::optional<RecordText>> record_text(Db& db, const RecordName& record);

// Merges the search indexes, so that nothing of deleted entries is left in them. True: there is more to do.
Result<bool> merge_indexes(Db& db);

}  // namespace cairn::store
