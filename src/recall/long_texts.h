// Tool calls and passages of archived transcripts: what was only in the middle of the work. Their indexes
// hold words without texts, so they are scored by which words they have, and read only when they are shown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/disk.h"
#include "recall/query.h"
#include "recall/rank.h"
#include "recall/record.h"
#include "store/event_index.h"
#include "store/passages.h"
#include "store/sql.h"

namespace cairn::recall {

struct LongText {
  store::LongMatch match;
  double score = 0;  // on the scale of rank()
  double covered = 0;
  std::vector<Share> shares;
};

// The best of them, one for a turn and few for a session, best first. `archive`: passages too.
Result<std::vector<LongText>> find_long_texts(store::Db& db, bool archive, const Asked& asked,
                                              const Query& query);
// Whether any of them in the scope has the word.
Result<bool> is_in_long_texts(store::Db& db, bool archive, const Asked& asked, const QueryWord& word);

// Reads what is shown of one into `record`. Returns the place of a passage in the archive.
Result<std::optional<store::Passage>> load_long_text(store::Db& db, os::Disk* disk,
                                                     const std::string& archive, Record& record);

// The words of a tool call: its input, and the beginning and the end of its output.
struct CallText {
  std::string input, output;
};
CallText call_text(std::string_view tool, const std::optional<std::string>& input,
                   const std::optional<std::string>& response);

}  // namespace cairn::recall
