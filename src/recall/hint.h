// Finds what is remembered about the subject of a prompt, and gives it only when it fits well enough.
//
// Most prompts need nothing ("thanks", "now commit it"), and a wrong hint costs more than a missing one. A
// hint is given when the prompt names things that few records of the project name, and one record has almost
// all of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recall/record.h"
#include "store/sql.h"

namespace cairn::recall {

// The longest hint, in characters.
inline constexpr std::size_t kLongestHint = 1500;

struct Hint {
  std::string text;               // data, not cleaned for a model: the caller fences it
  std::vector<RecordId> records;  // that it shows, for the receipt
  double confidence = 0;          // from 0 to 1
};

// The hint for a prompt in `project` and those linked with it; nothing: none is sure enough. Only reads, in
// bounded time. `own_session`: the host's id of the session that asks; its own records are left out.
Result<std::optional<Hint>> hint_for(store::Db& db, const std::string& project, std::string_view prompt,
                                     std::string_view own_session = {});

}  // namespace cairn::recall
