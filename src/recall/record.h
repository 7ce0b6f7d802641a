// The records that can be found, by the ids people see: observations O12, summaries S3, prompts P7,
// open items W4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/origin.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::recall {

// The numbers are those of the index: an entry is the row's id times 8, plus its kind.
enum class Kind { observation = 1, summary = 2, prompt = 3, open = 6 };

std::string_view kind_name(Kind kind);
std::optional<Kind> kind_named(std::string_view name);

struct RecordId {
  Kind kind = Kind::observation;
  std::int64_t row = 0;
  bool operator==(const RecordId&) const = default;
};

std::string text_of(const RecordId& id);
// "O12", in either case; `invalid` when it is none.
Result<RecordId> read_record_id(std::string_view text);

// A record as a list shows it.
struct Record {
  RecordId id;
  std::string project;
  std::string session;  // content id
  std::optional<std::int64_t> prompt_number;
  std::string type;   // an observation's own; else its kind
  std::string title;  // on one line
  std::string body;   // what is indexed besides
  std::string names;  // its files and concepts, a line each
  WallTime time;
  Origins origins;  // web and mcp by the events it came from, and what its texts quote
};

// Nothing when it is not there or deleted.
Result<std::optional<Record>> load_record(store::Db& db, const RecordId& id);

}  // namespace cairn::recall
