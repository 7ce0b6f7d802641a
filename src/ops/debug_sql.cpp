#include "ops/operation.h"
#include "store/diagnostics.h"

namespace cairn::ops {

static Json all_queries() {
  Json list = Json::array();
  for (const store::Diagnostic& query : store::diagnostics())
    list.push(Json::object({{"name", query.name}, {"meaning", query.meaning}, {"sql", query.sql}}));
  return Json::object({{"queries", list}});
}

static Result<Json> debug_sql(World& world, const Args& args) {
  const auto name = args.optional_text("name");
  if (!name) return all_queries();
  for (const store::Diagnostic& query : store::diagnostics()) {
    if (query.name != *name) continue;
    const auto id = args.optional_text("id");
    if (query.takes_session() && !id)
      return Error{Code::invalid, "debug sql: id is missing: \"" + *name +
                                      "\" is about one session, by the host's id of it"};
    const auto table = TRY(store::run_diagnostic(world.db, query, id.value_or("")));
    Json columns = Json::array(), rows = Json::array();
    for (const std::string& column : table.columns) columns.push(column);
    for (const auto& row : table.rows) {
      Json cells = Json::array();
      for (const auto& cell : row) cells.push(cell);
      rows.push(std::move(cells));
    }
    return Json::object({{"name", *name}, {"sql", query.sql}, {"columns", columns}, {"rows", rows}});
  }
  return all_queries();
}

std::vector<Operation> debug_operations() {
  static const std::string kNames = [] {
    std::string names;
    for (const auto& query : store::diagnostics()) names.append(names.empty() ? "" : "|").append(query.name);
    return names;
  }();
  return {{.name = "debug.sql",
           .group = Group::diagnostics,
           .summary = "the documented diagnostic queries",
           .help = "Without a name it lists them. Some ask for the host's id of a session.",
           .arguments = {choice("name", kNames, "the query to run").as("NAME").word(),
                         text("id", "the host's id of a session, for queries about one").as("ID").word()},
           .body = debug_sql}};
}

}  // namespace cairn::ops
