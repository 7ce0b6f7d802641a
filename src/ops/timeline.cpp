#include "recall/timeline.h"

#include <algorithm>

#include "ops/records.h"

namespace cairn::ops {

Result<recall::Record> find_record(World& world, std::string_view id) {
  const recall::RecordId wanted = TRY(recall::read_record_id(id));
  auto record = TRY(recall::load_record(world.db, wanted));
  if (!record) return Error{Code::not_found, "there is no " + recall::text_of(wanted)};
  return *std::move(record);
}

// What the query finds first.
static Result<recall::Record> best_of(World& world, const Json& args) {
  recall::Search search = TRY(read_search(world, args));
  search.limit = 1;
  recall::Found found = TRY(recall::search(world.db, search));
  if (found.hits.empty())
    return Error{Code::not_found, "timeline: nothing found: `cairn search` shows what there is"};
  return std::move(found.hits.front().record);
}

Result<Json> timeline(World& world, const Json& args) {
  const auto id = args.text("id");
  if (id.has_value() == args.has("query"))
    return Error{Code::invalid, "timeline: give an id or something to search for"};
  const recall::Record anchor = id ? TRY(find_record(world, *id)) : TRY(best_of(world, args));
  const auto count = [&](std::string_view name) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(args[name].as_int(5), 0, 500));
  };
  Json records = Json::array();
  for (const recall::Record& record : TRY(recall::around(world.db, anchor, count("before"), count("after"))))
    records.push(record_json(record));
  return Json::object(
      {{"anchor", recall::text_of(anchor.id)}, {"project", anchor.project}, {"records", records}});
}

}  // namespace cairn::ops
