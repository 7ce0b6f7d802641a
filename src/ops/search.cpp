#include "recall/search.h"

#include <algorithm>

#include "base/text.h"
#include "host/host.h"
#include "ops/mode.h"
#include "ops/records.h"
#include "recall/timeline.h"
#include "store/observations.h"
#include "store/projects.h"
#include "store/totals.h"

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
  using recall::Kind;  // a passage or a tool call is part of a turn, like a text
  const bool is_part = record.id.kind == Kind::passage || record.id.kind == Kind::event;
  return Json::object({{"id", recall::text_of(record.id)},
                       {"kind", name_of(is_part ? Kind::text : record.id.kind)},
                       {"type", record.type},
                       {"title", record.title},
                       {"project", record.project},
                       {"session", record.session},
                       {"prompt_number", record.prompt_number ? Json(*record.prompt_number) : Json()},
                       {"time", iso8601(record.time)},
                       {"tokens", estimate_tokens(record.title) + estimate_tokens(record.body)},
                       {"origin", origins_json(record.origins)}});
}

Json passage_json(const store::Passage& passage) {
  const std::string backup = "B" + std::to_string(passage.backup);
  // A subagent's transcript comes back with that of its session.
  const std::string& whole = passage.base.key.agent.empty() ? backup : passage.base.key.session;
  return Json::object({{"backup", backup},
                       {"agent", passage.base.key.agent.empty() ? Json() : Json(passage.base.key.agent)},
                       {"first_line", passage.first_line},
                       {"last_line", passage.last_line},
                       {"restore", "cairn backup restore " + whole + " --into-host"}});
}

static Json hit_json(const recall::Hit& hit, bool explain) {
  Json out = record_json(hit.record);
  out.set("score", hit.score);
  Json also = Json::array();
  for (const recall::RecordId& id : hit.also) also.push(recall::text_of(id));
  out.set("also", also);
  out.set("title_marks", marks_json(hit.title.marks));
  out.set("excerpt", hit.excerpt.text);
  out.set("excerpt_marks", marks_json(hit.excerpt.marks));
  out.set("covered", hit.covered);
  out.set("stale", hit.is_stale);
  if (hit.successor) out.set("successor", recall::text_of(*hit.successor));
  if (hit.passage) out.set("archive", passage_json(*hit.passage));
  if (!explain) return out;
  Json shares = Json::array();
  for (const recall::Share& share : hit.shares)
    shares.push(Json::object({{"term", share.term}, {"score", share.score}}));
  return out.set("explain", shares);
}

// Options override filters in the text.
static recall::Query query_of(World& world, const Args& args) {
  const WallTime now = world.clock.now();
  recall::Query query = recall::read_query(args.text("query"), now);
  for (const auto& [name, to] : {std::pair("kind", &query.kind), std::pair("type", &query.type),
                                 std::pair("concept", &query.concept_name), std::pair("file", &query.file),
                                 std::pair("host", &query.host)})
    if (auto text = args.optional_text(name)) *to = *std::move(text);
  if (const auto since = args.moment("since", now)) query.since = since;
  if (const auto until = args.moment("until", now, true)) query.until = until;
  return query;
}

// `project:x` in the query wins over the caller's own project. When there is no project x, these are words to
// search for.
static Result<std::optional<std::string>> searched_project(World& world, const Args& args,
                                                           recall::Query& query) {
  if (query.project.empty()) return project_of(world, args);
  const auto named = TRY(store::project_by_name(world.db, query.project));
  if (!named) {
    query.words += " project " + query.project;
    return project_of(world, args);
  }
  if (!TRY(may_see(world, named->name)))
    return Error{Code::denied,
                 "search: an agent may not ask for other projects: the user can allow it with `cairn config "
                 "set recall.agent_scope all`"};
  return std::optional(named->name);
}

static Result<Json> search(World& world, const Args& args) {
  recall::Search search;
  search.query = query_of(world, args);
  search.project = TRY(searched_project(world, args, search.query));
  search.limit = static_cast<std::size_t>(args.integer("limit"));
  search.offset = static_cast<std::size_t>(args.integer("offset"));
  search.explain = args.flag("explain");
  search.disk = &world.disk;
  search.archive = world.home.data + "/archive";
  // A filter by kind or type asks for records, not turns.
  search.by_turn = search.query.kind.empty() && search.query.type.empty();
  const recall::Found found = TRY(recall::search(world.db, search));
  Json results = Json::array();
  for (const recall::Hit& hit : found.hits) results.push(hit_json(hit, search.explain));
  Json absent = Json::array();
  for (const std::string& name : found.absent) absent.push(name);
  Suggestions suggestions = TRY(suggestions_for(world, args.text("query"), search.project));
  return Json::object(
      {{"project", search.project},
       {"fixes", std::move(suggestions.fixes)},
       {"commands", std::move(suggestions.commands)},
       {"results", results},
       {"absent", absent},
       {"more", found.more},
       {"remembered_since", time_or_null(TRY(store::remembered_since(world.db, search.project)))}});
}

Result<recall::Record> find_record(World& world, const recall::RecordId& id) {
  auto record = TRY(recall::load_record(world.db, id));
  // The same answer for both: an agent must not learn that a record of another project exists.
  if (!record || !TRY(may_see(world, record->project)))
    return Error{Code::not_found, "there is no " + recall::text_of(id)};
  return *std::move(record);
}

// The first hit of the query.
static Result<recall::Record> best_of(World& world, const Args& args) {
  recall::Search search;
  search.query = recall::read_query(args.text("query"), world.clock.now());
  search.project = TRY(searched_project(world, args, search.query));
  search.limit = 1;
  recall::Found found = TRY(recall::search(world.db, search));
  if (found.hits.empty())
    return Error{Code::not_found, "timeline: nothing found: `cairn search` shows what there is"};
  return std::move(found.hits.front().record);
}

static Result<Json> timeline(World& world, const Args& args) {
  const recall::Record anchor =
      args.has("id") ? TRY(find_record(world, args.record("id"))) : TRY(best_of(world, args));
  const auto before = static_cast<std::size_t>(args.integer("before")),
             after = static_cast<std::size_t>(args.integer("after"));
  Json records = Json::array();
  for (const recall::Record& record : TRY(recall::around(world.db, anchor, before, after)))
    records.push(record_json(record));
  return Json::object(
      {{"anchor", recall::text_of(anchor.id)}, {"project", anchor.project}, {"records", records}});
}

// The types of the current mode, and those of stored records.
static std::string wrong_type(World& world, const std::string& value) {
  const std::string type = ascii_lower(value);
  const auto loaded = load_mode(world.disk, world.home, world.settings.text("agent.mode"));
  const distil::Mode& mode = loaded ? *loaded : distil::code_mode();
  std::string list;
  for (const distil::Mode::Named& known : mode.types) {
    if (known.name == type) return {};
    list.append(list.empty() ? "" : ", ").append(known.name);
  }
  // Types of another mode, or of an import, can be searched for too.
  return store::is_type_in_use(world.db, type).value_or(false) ? "" : "one of " + list;
}

Argument observation_type(std::string_view meaning) {
  return text("type", meaning).as("TYPE").checked_by(wrong_type);
}

std::vector<Operation> search_operations() {
  return {
      {.name = "search",
       .group = Group::memory,
       .summary = "find what is remembered, the best first",
       .help =
           "Any of the words may match, in any form (round finds rounded, parseHeader finds parse_header); "
           "the more of them and the rarer, the better. \"Words in quotes\" must occur together, -word must "
           "not occur, and type:bugfix, file:src/x.cpp, since:2w, project:x within the query do what the "
           "options do. A time in plain words (\"last Tuesday\", \"in March\") puts first what happened "
           "then. Any text is a query.\n\n"
           "Finds summaries, observations, prompts, what was said, documents, open items, and the words of "
           "tool calls and archived transcripts.\n\n"
           "Without a query the newest records that pass the filters. When nothing is found the exit code "
           "is 3.",
       .scope = Scope::any,
       .arguments =
           {text("query", "the words to look for").as("QUERY").rest_of_line(),
            observation_type("only observations of that type: bugfix, feature, decision, ..."),
            text("concept", "only observations with that concept").as("NAME"),
            text("file", "only what read or changed that file: a path or a part of one").as("PATH"),
            moment("since", "not older: 2h, 3d, 2w, yesterday, 2026-10-01"), moment("until", "not newer"),
            choice("kind", "observation|summary|prompt|turn|open|document", "only records of that kind"),
            host("host", "only sessions of that coding agent"),
            integer("limit", 1, 1000, "at most N results").otherwise(20),
            integer("offset", 0, 1'000'000, "leave out the first N").otherwise(0),
            flag("explain", "show what each word and each feature adds to the score"), asked_by_agent()},
       .body = search},
      {.name = "timeline",
       .group = Group::memory,
       .summary = "what happened around a record",
       .help = "Around the record with that id, or around the best one for a query.",
       .scope = Scope::any,
       .arguments = {record("id", kAnyRecord, "the record").in_requests(),
                     text("query", "the record's id, or words to find it by").as("ID|QUERY").rest_of_line(),
                     integer("before", 0, 500, "how many records before it").otherwise(5),
                     integer("after", 0, 500, "how many records after it").otherwise(5), asked_by_agent()},
       .one_of = "id query",
       .body = timeline},
  };
}

}  // namespace cairn::ops
