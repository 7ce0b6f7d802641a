// Writes what is remembered as one file: JSON that `cairn import cairn` reads back, or a page for a person.
//
// JSON has one record a line, in an order in which a record comes after those it names, so that a large file
// can be written and read without holding it in memory. It has everything that is remembered; events, their
// texts and the archive are only in a copy of the whole store. Tombstones are exported too.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::exchange {

inline constexpr std::int64_t kFormatVersion = 1;
inline constexpr std::string_view kVersionKey = "cairn_export";

struct Export {
  std::vector<std::string> projects;  // their names: only records of these
  bool tombstones = true;             // whether to export what was forgotten too, as keyed hashes
  std::string home_key;               // the home's key
  std::string program;                // "cairn 1.2"
  WallTime now;
};

// Takes the next piece of the file.
using Sink = std::function<Status(std::string_view text)>;
using RecordCounts = std::map<std::string, std::int64_t>;

// Each reads in one transaction, so that the file shows the state of one moment, and returns how many records
// of each kind it wrote.
Result<RecordCounts> write_json(store::Db& db, const Export& what, const Sink& sink);
// For reading and printing: without what is hidden and without tombstones. All stored text is escaped; the
// HTML loads nothing and runs nothing.
Result<RecordCounts> write_markdown(store::Db& db, const Export& what, const Sink& sink);
Result<RecordCounts> write_html(store::Db& db, const Export& what, const Sink& sink);

// A name for the home in its exports, from which the key cannot be derived.
std::string home_name(std::string_view home_key);

}  // namespace cairn::exchange
