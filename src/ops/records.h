// Shared by the operations on records.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "event/origin.h"
#include "ops/operation.h"
#include "recall/search.h"
#include "store/open_items.h"
#include "store/standing.h"

namespace cairn::ops {

// The names of sources outside the project that text came from.
Json origins_json(const Origins& origins);
// The same for the result of a tool.
Json origins_json(std::string_view tool);

// The record's name in the store.
inline store::RecordName name_of(const recall::RecordId& id) {
  return {recall::text_of(id).front(), id.row};
}

// The keys that every record has in a result.
Json record_json(const recall::Record& record);

// The argument `type`: one of the mode's types, or one that something stored has.
Argument observation_type(std::string_view meaning);

// The place of a passage in the archive, and the command that restores its transcript.
Json passage_json(const store::Passage& passage);

// Who stored a memory by hand, by the id of its session: "person", "agent", or null when it was not by hand.
Json who_noted(std::string_view session);

// The handler of `why`.
Result<Json> why(World& world, const Args& args);

// An open item as in the results of `open` and `show`.
Json open_item_json(const store::OpenItem& item);

// The project to store something for, which may be new. For operations of Scope::one or any that write.
Result<std::string> project_for(World& world, const Args& args);

// One stored event with its texts; null when it is unknown. `full`: the whole texts.
Result<Json> event_json(World& world, std::int64_t seq, bool full);
// What `fix` and `how` answer to a query that is an error text or asks for a command. Empty lists for another
// query.
struct Suggestions {
  Json fixes, commands;
};
Result<Suggestions> suggestions_for(World& world, const std::string& query,
                                    const std::optional<std::string>& project);

// The record with that id; `not_found` when there is none.
Result<recall::Record> find_record(World& world, const recall::RecordId& id);

}  // namespace cairn::ops
