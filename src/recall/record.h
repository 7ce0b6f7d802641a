// The records that can be found, by the ids people see: observations O12, summaries S3, prompts P7,
// texts of turns T5 (answers, remarks, messages of commits), open items W4.
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

// The numbers are stored in the index: the rowid of an entry is the row's id times 8, plus its kind.
enum class Kind { observation = 1, summary = 2, prompt = 3, turn = 4, open = 6 };

std::string_view kind_name(Kind kind);

struct RecordId {
  Kind kind = Kind::observation;
  std::int64_t row = 0;
  bool operator==(const RecordId&) const = default;
};

std::string text_of(const RecordId& id);
// Reads "O12", in either case. Fails with `invalid`.
Result<RecordId> read_record_id(std::string_view text);

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

// Nothing when it does not exist or is deleted.
Result<std::optional<Record>> load_record(store::Db& db, const RecordId& id);

// The summary of the turn that `record` belongs to; nothing when it has none.
Result<std::optional<Record>> summary_of(store::Db& db, const Record& record);

}  // namespace cairn::recall
