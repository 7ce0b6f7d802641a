// What is pending when a session starts: work that was done after the newest document.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "store/sql.h"

namespace cairn::documents {

// One line for the user: what came after the newest document of the project and what to do about it. Nothing
// when there is no document, when its transcript has no backup that is pending, or when that holds no work:
// no edits and no commits. `asking`: the session that starts; what it did itself is not pending. Reads only
// the store.
Result<std::optional<std::string>> pending_line(store::Db& db, const std::string& project,
                                                const std::string& asking);

}  // namespace cairn::documents
