#include "recall/search.h"

#include <algorithm>

#include "host/host.h"
#include "ops/records.h"

namespace cairn::ops {

static Json marks_json(const std::vector<recall::Mark>& marks) {
  Json list = Json::array();
  for (const auto& [from, to] : marks) list.push(Json::array({from, to}));
  return list;
}

Json origins_json(const Origins& origins) {
  Json list = Json::array();
  for (const Origin origin : origins) list.push(origin_name(origin));
  return list;
}

Json origins_json(std::string_view tool) {
  const auto origin = host::origin_of_tool(tool);
  return origins_json(origin ? Origins{*origin} : Origins());
}

Json record_json(const recall::Record& record) {
  return Json::object({{"id", recall::text_of(record.id)},
                       {"kind", recall::kind_name(record.id.kind)},
                       {"type", record.type},
                       {"title", record.title},
                       {"project", record.project},
                       {"session", record.session},
                       {"prompt_number", record.prompt_number ? Json(*record.prompt_number) : Json()},
                       {"time", iso8601(record.time)},
                       {"origin", origins_json(record.origins)}});
}

static Json hit_json(const recall::Hit& hit, bool explain) {
  Json out = record_json(hit.record);
  out.set("score", hit.score);
  out.set("title_marks", marks_json(hit.title.marks));
  out.set("excerpt", hit.excerpt.text);
  out.set("excerpt_marks", marks_json(hit.excerpt.marks));
  if (!explain) return out;
  Json shares = Json::array();
  for (const recall::Share& share : hit.shares)
    shares.push(Json::object({{"term", share.term}, {"score", share.score}}));
  return out.set("explain", shares);
}

// Options beside the text win over what the text says.
static Result<recall::Query> query_of(World& world, const Json& args) {
  const WallTime now = world.clock.now();
  recall::Query query = recall::read_query(args["query"].as_string(), now);
  for (const auto& [name, to] : {std::pair("kind", &query.kind), std::pair("type", &query.type),
                                 std::pair("concept", &query.concept_name), std::pair("file", &query.file)})
    if (const auto text = args.text(name)) *to = *text;
  if (const auto since = args.text("since")) query.since = TRY(recall::read_moment(*since, now).in("since"));
  if (const auto until = args.text("until"))
    query.until = TRY(recall::read_moment(*until, now, true).in("until"));
  return query;
}

Result<recall::Search> read_search(World& world, const Json& args) {
  recall::Search search;
  search.query = TRY(query_of(world, args));
  search.project = TRY(project_of(world, args));
  search.limit = static_cast<std::size_t>(std::clamp<std::int64_t>(args["limit"].as_int(20), 1, 1000));
  search.offset = static_cast<std::size_t>(std::clamp<std::int64_t>(args["offset"].as_int(0), 0, 1'000'000));
  search.explain = args["explain"].as_bool();
  return search;
}

// Since when there is anything to be found: of a project, or of all.
static Result<Json> remembered_since(store::Db& db, const std::optional<std::string>& project) {
  const auto first =
      project ? TRY(db.integer("SELECT min(started_at_epoch) FROM sdk_sessions WHERE project = ?", *project))
              : TRY(db.integer("SELECT min(created_at_epoch) FROM projects"));
  return first ? Json(iso8601(from_epoch_ms(*first))) : Json();
}

Result<Json> search(World& world, const Json& args) {
  const recall::Search search = TRY(read_search(world, args));
  const recall::Found found = TRY(recall::search(world.db, search));
  Json results = Json::array();
  for (const recall::Hit& hit : found.hits) results.push(hit_json(hit, search.explain));
  return Json::object({{"project", search.project},
                       {"results", results},
                       {"more", found.more},
                       {"remembered_since", TRY(remembered_since(world.db, search.project))}});
}

}  // namespace cairn::ops
