// What to do about documents when a session starts: one action, and why. And whether a document is behind.
// Reads only the store.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/documents.h"
#include "store/sql.h"

namespace cairn::documents {

struct AdviceQuery {
  std::string project;
  SessionId asking;           // the session that starts
  std::string asking_id;      // its content id
  bool is_compacted = false;  // it was just compacted; only then there is advice about its own document
  WallTime now;
  Millis stale{};  // zero: a document never gets too old
};

struct Advice {
  std::string line;  // for the user: the command, why, and whether a pending backup has work; empty: none
  // Advice that is given once: the key in meta that becomes `number` when it was shown. Empty: at each start.
  std::string once;
  std::int64_t number = 0;
};

// With a document: `coalesce` when its session went on and did work, `resume` when no other session worked
// after it, `save` once when others did and it has become old. Without any: `save`, once in a project.
Result<Advice> advise(store::Db& db, const AdviceQuery& query);

// Whether a session other than `asking` worked after the document, longer ago than `stale`. Zero: never.
Result<bool> is_behind(store::Db& db, const store::Document& document, SessionId asking, WallTime now,
                       Millis stale);

}  // namespace cairn::documents
