#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kHelpReceipts = R"sql(
-- A receipt is of the context of a session's start, or of help that an event in the middle of work got.
ALTER TABLE injections ADD COLUMN kind TEXT NOT NULL DEFAULT 'context' CHECK(kind IN ('context', 'help'));
)sql";

}  // namespace cairn::store
