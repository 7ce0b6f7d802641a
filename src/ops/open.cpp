#include <algorithm>

#include "base/text.h"
#include "distil/distil.h"
#include "event/origin.h"
#include "gate/private_text.h"
#include "intake/place.h"
#include "ops/records.h"
#include "store/notes.h"
#include "store/open_items.h"
#include "store/projects.h"

namespace cairn::ops {

static constexpr std::size_t kMostItemText = 2000;  // bytes

Json open_item_json(const store::OpenItem& item) {
  return Json::object(
      {{"id", "W" + std::to_string(item.id)},
       {"kind", "open"},
       {"source", store::name_of(item.source)},
       {"state", item.state == event::OpenState::none ? Json() : Json(store::name_of(item.state))},
       {"text", item.text},
       {"project", item.project},
       {"branch", item.branch},
       {"session", item.content_session.empty() ? Json() : Json(item.content_session)},
       {"prompt_number", item.prompt_number ? Json(*item.prompt_number) : Json()},
       {"opened_at", iso8601(item.opened_at)},
       {"last_seen_at", iso8601(item.last_seen_at)},
       {"closed_at", item.closed_at ? Json(iso8601(*item.closed_at)) : Json()},
       {"closed_by", item.closed_by.empty() ? Json() : Json(item.closed_by)},
       {"origin", origins_json(item.origins)}});
}

static Result<Json> list_open(World& world, const Args& args) {
  store::OpenItemQuery query;
  query.project = TRY(project_of(world, args));
  query.closed = args.flag("closed");
  query.limit = static_cast<std::size_t>(args.integer("limit"));
  // Counted back from the last work, not from today: a project that rests does not lose its items.
  const WallTime oldest = TRY(store::last_activity(world.db, query.project)) - store::kOpenItemAge;
  Json items = Json::array();
  for (const store::OpenItem& item : TRY(store::open_items(world.db, query)))
    items.push(open_item_json(item).set("earlier", !query.closed && item.last_seen_at < oldest));
  return Json::object({{"project", query.project ? Json(*query.project) : Json()}, {"items", items}});
}

static Result<Json> open(World& world, const Args& args) {
  if (!args.has("text")) return list_open(world, args);
  const std::string clean = world.intake->gate().clean(args.text("text"), gate::Way::remember);
  // Cut a little above the limit (by a whole character at least), so that the check below still sees that
  // it is too long.
  const std::string text = one_line(labelled(visible(clean)), kMostItemText + 4);
  if (gate::only_private(text) || text.empty())
    return Error{Code::invalid, "open: nothing to add: the text is empty or wholly private"};
  if (text.size() > kMostItemText)
    return Error{Code::invalid, "open: the text is longer than 2,000 bytes: `cairn remember` takes more"};
  auto transaction = TRY(store::Transaction::begin(world.db));
  store::OpenItem item;
  item.project = TRY(project_for(world, args));
  item.text = text;
  item.key = distil::item_key(text);
  item.opened_at = item.last_seen_at = world.clock.now();
  item.id = TRY(store::add_open_item(world.db, item));
  TRY(transaction.commit());
  return open_item_json(item);
}

// Closes an open item, removes a note from the context, or drops the standing orders of a prompt.
static Result<Json> end_one(World& world, const recall::RecordId& id) {
  const WallTime now = world.clock.now();
  const std::string name = recall::text_of(id);
  if (id.kind == recall::Kind::open) {
    const auto item = TRY(store::find_open_item(world.db, id.row));
    if (!item) return Error{Code::not_found, "done: there is no " + name};
    TRY(store::close_open_item(world.db, id.row, "you", {}, now));
    return Json::object({{"id", name}, {"kind", "open"}, {"text", item->text}});
  }
  if (id.kind == recall::Kind::observation) {
    TRY(store::end_note(world.db, id.row, now).in("done"));
    const auto record = TRY(recall::load_record(world.db, id));
    return Json::object({{"id", name}, {"kind", "note"}, {"text", record ? Json(record->title) : Json()}});
  }
  if (id.kind == recall::Kind::prompt && TRY(store::end_standing_orders(world.db, id.row, now)) > 0)
    return Json::object({{"id", name}, {"kind", "standing order"}, {"text", Json()}});
  return Error{
      Code::invalid,
      "done: " + name + " gave no standing order that the context shows: `cairn open` lists what is left"};
}

static Result<Json> done(World& world, const Args& args) {
  Json closed = Json::array();
  TRY(store::in_transaction(world.db, [&]() -> Status {
    for (const recall::RecordId& id : args.records("ids")) closed.push(TRY(end_one(world, id)));
    return {};
  }));
  return Json::object({{"done", closed}});
}

std::vector<Operation> open_operations() {
  return {
      {.name = "open",
       .access = Access::write,
       .group = Group::memory,
       .summary = "what is left to do; with TEXT, add to it",
       .help =
           "Tasks of the agent's list, next steps and questions of its answers, plans that were not "
           "implemented, interruptions, and what you add. An item stays, session after session, until it is "
           "done, a later turn says so, or you close it with `cairn done`. After 30 days without a "
           "mention it is only shown at the end.",
       .scope = Scope::any,
       .arguments = {text("text", "what to add").rest_of_line().not_with("all"),
                     flag("closed", "what was closed instead, and by what"),
                     integer("limit", 1, kMostRows, "at most N rows").otherwise(100)},
       .body = open},
      {.name = "done",
       .access = Access::write,
       .group = Group::memory,
       .summary = "close open items (W12), or remove notes (O7) from the context",
       .help =
           "Nothing is deleted: `cairn show ID` and search still find it. With the id of a prompt (P7) it "
           "drops the standing orders of that prompt, which the context shows as candidates for notes.",
       .arguments = {records("ids", "OPW", "the items or notes").words().needed()},
       .body = done}};
}

}  // namespace cairn::ops
