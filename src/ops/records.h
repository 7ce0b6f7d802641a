// What the operations on records share.
#pragma once

#include "base/json.h"
#include "base/origin.h"
#include "base/result.h"
#include "ops/operation.h"
#include "recall/search.h"
#include "store/open_items.h"

namespace cairn::ops {

// Where text came from that neither the person nor the agent wrote, by name.
Json origins_json(const Origins& origins);
// The same of what a tool answered.
Json origins_json(std::string_view tool);

// The keys that every record has in a result.
Json record_json(const recall::Record& record);

// The argument `type`: one of the mode's types, or one that something stored has.
Argument observation_type(std::string_view meaning);

// Who stored a memory by hand, by the id of its session: "person", "agent", or null when nobody did.
Json who_noted(std::string_view session);

// The handler of `why`.
Result<Json> why(World& world, const Args& args);

// An open item as `open` and `show` give it.
Json open_item_json(const store::OpenItem& item);

// The project to store something for; its directory may be new to cairn. For operations of Scope::one or any
// that write.
Result<std::string> project_for(World& world, const Args& args);

// The record with that id; `not_found` when there is none.
Result<recall::Record> find_record(World& world, std::string_view id);

}  // namespace cairn::ops
