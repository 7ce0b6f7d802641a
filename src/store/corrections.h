// What a person corrects: the fields of a record, and whether it is valid at all.
//
// A correction outlives every later distillation: what was rejected or retracted stays hidden when the same
// is said again, and what was edited is not overwritten. All within the caller's transaction, on the writer's
// connection.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"
#include "store/standing.h"

namespace cairn::store {

using Fields = std::map<std::string, std::string, std::less<>>;

// The fields that can be edited, with their values; a list has a line for each item. Empty: the record cannot
// be edited, or there is none.
Result<Fields> fields_of(Db& db, const RecordName& record);
// Writes some of them. `edited`: by a person, so that nothing else may change the record; false takes that
// back.
Status put_fields(Db& db, const RecordName& record, const Fields& fields, bool edited, WallTime now);

// The hash of what a record says now, for Standing::text_hash.
Result<std::string> text_hash_of(Db& db, const RecordName& record);

// Makes an observation a note that every session is given, or takes that back.
Status pin_observation(Db& db, std::int64_t observation, bool pinned);

// Hides the records whose `valid_until` has passed.
Status hide_expired(Db& db, WallTime now);

}  // namespace cairn::store
