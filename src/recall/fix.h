// What fixed an error before: a check that failed with the same message, what was changed, and that it passed
// afterwards. Made from the observations of fixes, so that every answer can be followed back.
//
// Two error texts are the same when they agree in the words that matter: numbers, addresses, durations and
// directories differ from run to run and are left out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "recall/record.h"
#include "store/sql.h"

namespace cairn::recall {

struct Fix {
  RecordId record;      // the observation
  std::string project;  // of it
  std::string title;
  std::string failure;               // "'make test' failed (...)."
  std::vector<std::string> changes;  // "Edited src/x.cpp (+3 -1): read_word."
  std::string pass;                  // "'make test' passed (12 tests)."
  std::string why;                   // the agent's words about the cause; may be empty
  WallTime at;
  double likeness = 0;  // of the two errors, from 0 to 1

  // All of it on a few lines, at most `max` bytes: what failed, what was changed, that it passed.
  std::string text(std::size_t max) const;
};

// The fixes of errors like `error` in these projects (none: in all), the most alike first, then the newest.
// At most `limit`. Looks at a bounded number of records.
Result<std::vector<Fix>> find_fixes(store::Db& db, const std::vector<std::string>& projects,
                                    std::string_view error, std::size_t limit);

// The fix of the same error in `project` (and those linked with it), if that is sure: the texts agree in
// almost all words and in enough of them, the fix ended with a pass, and something was changed for it. When
// the newest fixes of the error disagree about the files, nothing is sure.
Result<std::optional<Fix>> sure_fix(store::Db& db, const std::string& project, std::string_view error);

}  // namespace cairn::recall
