#include <algorithm>

#include "archive/passages.h"
#include "ops/records.h"
#include "store/aliases.h"
#include "store/lists.h"
#include "store/observations.h"
#include "store/standing.h"
#include "store/summaries.h"
#include "store/texts.h"

namespace cairn::ops {

static Json list_json(const std::vector<std::string>& items) {
  Json list = Json::array();
  for (const std::string& item : items) list.push(item);
  return list;
}

// Sources of the record's events and of the quotes in its texts.
static Json origins_of(Origins origins, std::initializer_list<const std::string*> texts) {
  for (const std::string* text : texts) origins.merge(origins_in(*text));
  return origins_json(origins);
}

// The texts of a turn of those kinds, whole.
static std::string said(const std::vector<store::Text>& texts, std::initializer_list<store::TextKind> kinds) {
  std::string out;
  for (const store::Text& text : texts)
    if (std::find(kinds.begin(), kinds.end(), text.kind) != kinds.end())
      out += (out.empty() ? "" : "\n\n") + text.text;
  return out;
}

static Json summary_json(const store::Summary& s, const std::vector<store::Text>& texts) {
  return Json::object({{"id", "S" + std::to_string(s.id)},
                       {"kind", "summary"},
                       {"project", s.project},
                       {"session", s.session},
                       {"prompt_number", s.prompt_number},
                       {"branch", s.branch},
                       {"provider", s.provider},
                       {"interim", s.interim},
                       {"turn_end", s.turn_end == store::TurnEnd::none ? Json() : Json(name_of(s.turn_end))},
                       {"time", iso8601(s.created_at)},
                       {"origin", origins_of(s.origins, {&s.investigated, &s.learned, &s.completed,
                                                         &s.next_steps, &s.notes})},
                       {"request", s.request},
                       {"investigated", s.investigated},
                       {"learned", s.learned},
                       {"completed", s.completed},
                       {"next_steps", s.next_steps},
                       {"notes", s.notes},
                       {"objections", said(texts, {store::TextKind::objection})},
                       {"answer", said(texts, {store::TextKind::answer})},
                       {"remarks", said(texts, {store::TextKind::remark, store::TextKind::away})},
                       {"commits", said(texts, {store::TextKind::commit, store::TextKind::pull})},
                       {"files_read", list_json(s.files_read)},
                       {"files_edited", list_json(s.files_edited)}});
}

static Json observation_json(const store::Observation& o) {
  const Json facts = list_json(o.facts);
  // All facts as one text, only to look for quotes in it.
  const std::string all_facts = facts.dump();
  return Json::object({{"id", "O" + std::to_string(o.id)},
                       {"kind", "observation"},
                       {"project", o.project},
                       {"session", o.session},
                       {"prompt_number", o.prompt_number ? Json(*o.prompt_number) : Json()},
                       {"time", iso8601(o.created_at)},
                       {"origin", origins_of(o.origins, {&o.title, &all_facts, &o.narrative})},
                       {"by", who_noted(o.session)},
                       {"type", o.type},
                       {"title", o.title},
                       {"subtitle", o.subtitle},
                       {"facts", facts},
                       {"narrative", o.narrative},
                       {"concepts", list_json(o.concepts)},
                       {"files_read", list_json(o.files_read)},
                       {"files_modified", list_json(o.files_modified)}});
}

static Result<std::optional<Json>> prompt_json(store::Db& db, const recall::RecordId& id) {
  const auto found = TRY(recall::load_record(db, id));
  if (!found) return std::optional<Json>();
  return std::optional<Json>(Json::object({{"id", recall::text_of(id)},
                                           {"kind", "prompt"},
                                           {"project", found->project},
                                           {"session", found->session},
                                           {"prompt_number", found->prompt_number.value_or(0)},
                                           {"time", iso8601(found->time)},
                                           {"text", found->body}}));
}

static Result<std::optional<Json>> text_json(store::Db& db, const recall::RecordId& id) {
  const auto found = TRY(recall::load_record(db, id));
  if (!found) return std::optional<Json>();
  return std::optional<Json>(Json::object({{"id", recall::text_of(id)},
                                           {"kind", "turn"},
                                           {"type", found->type},
                                           {"project", found->project},
                                           {"session", found->session},
                                           {"prompt_number", found->prompt_number.value_or(0)},
                                           {"time", iso8601(found->time)},
                                           {"origin", origins_json(found->origins)},
                                           {"text", found->body}}));
}

// The text is read from the archive: the store has only the place of a passage.
static Result<std::optional<Json>> passage_record(World& world, const recall::RecordId& id) {
  const auto found = TRY(store::find_passage(world.db, id.row));
  if (!found) return std::optional<Json>();
  const archive::PassageText read =
      TRY(archive::passage_text(world.db, world.disk, world.home.data + "/archive", *found).in("show"));
  return std::optional<Json>(
      Json::object({{"id", recall::text_of(id)},
                    {"kind", "turn"},
                    {"type", "turn"},
                    {"project", found->project},
                    {"session", found->base.key.session},
                    {"prompt_number", found->prompt_number ? Json(*found->prompt_number) : Json()},
                    {"time", iso8601(found->at)},
                    {"origin", origins_json(read.origins)},
                    {"archive", passage_json(*found)},
                    {"text", read.text}}));
}

// A tool call: what it was given and what it gave, whole.
static Result<std::optional<Json>> call_record(World& world, const recall::RecordId& id) {
  const auto found = TRY(recall::load_record(world.db, id));
  if (!found) return std::optional<Json>();
  const Json event = TRY(event_json(world, id.row, true));
  std::string text;
  for (const char* part : {"input", "response"})
    if (const auto value = event.text(part); value && !value->empty())
      text += (text.empty() ? "" : "\n\n") + *value;
  return std::optional<Json>(
      Json::object({{"id", recall::text_of(id)},
                    {"kind", "turn"},
                    {"type", found->type},
                    {"project", found->project},
                    {"session", found->session},
                    {"prompt_number", found->prompt_number ? Json(*found->prompt_number) : Json()},
                    {"time", iso8601(found->time)},
                    {"origin", Json::array({"output"})},
                    {"text", text}}));
}

static Result<std::optional<Json>> document_record(World& world, const recall::RecordId& id) {
  const auto found = TRY(recall::load_record(world.db, id));
  if (!found) return std::optional<Json>();
  return std::optional<Json>(Json::object({{"id", recall::text_of(id)},
                                           {"kind", "document"},
                                           {"type", "document"},
                                           {"title", found->title},
                                           {"project", found->project},
                                           {"session", found->session},
                                           {"prompt_number", 0},
                                           {"time", iso8601(found->time)},
                                           {"text", found->body}}));
}

static Result<std::optional<Json>> record(World& world, const recall::RecordId& id) {
  if (id.kind == recall::Kind::event) return call_record(world, id);
  if (id.kind == recall::Kind::document) return document_record(world, id);
  if (id.kind == recall::Kind::prompt) return prompt_json(world.db, id);
  if (id.kind == recall::Kind::open) {
    const auto item = TRY(store::find_open_item(world.db, id.row));
    if (!item) return std::optional<Json>();
    // The line that lists show is the title here; `text` is the whole plan where the item is one.
    return std::optional<Json>(open_item_json(*item)
                                   .set("title", item->text)
                                   .set("time", iso8601(item->opened_at))
                                   .set("text", item->detail.empty() ? item->text : item->detail));
  }
  if (id.kind == recall::Kind::text) return text_json(world.db, id);
  if (id.kind == recall::Kind::passage) return passage_record(world, id);
  if (id.kind == recall::Kind::observation) {
    const auto found = TRY(store::find_observation(world.db, id.row));
    return found ? std::optional<Json>(observation_json(*found)) : std::nullopt;
  }
  const auto found = TRY(store::find_summary(world.db, id.row));
  if (!found) return std::optional<Json>();
  return std::optional<Json>(
      summary_json(*found, TRY(store::texts_of_turn(world.db, found->session_row, found->prompt_number))));
}

// The record of an id; also by the id that it had in the memory it was imported from: "TOOL:12".
static Result<std::optional<Json>> record_named(World& world, const std::string& id) {
  const std::size_t colon = id.find(':');
  if (colon == std::string::npos) return record(world, TRY(recall::read_record_id(id)));
  const auto found = TRY(store::record_of_alias(world.db, id.substr(0, colon), id.substr(colon + 1)));
  return found ? record(world, *found) : std::optional<Json>();
}

// Shows those that exist and names the others. Fails with `not_found` when none exists.
static Result<Json> show(World& world, const Args& args) {
  Json records = Json::array(), missing = Json::array();
  std::string names;
  for (const std::string& id : args.texts("ids")) {
    auto found = TRY(record_named(world, id));
    // An agent gets the same answer for a record of another project as for one that does not exist.
    if (found && TRY(may_see(world, std::string((*found)["project"].as_string())))) {
      if (const auto name = store::read_record_name((*found)["id"].as_string()))
        if (const auto standing = TRY(store::standing_of(world.db, *name)))
          found->set("actor", store::name_of(standing->actor)).set("trust", store::name_of(standing->trust));
      records.push(*std::move(found));
    } else {
      missing.push(id);
      names.append(names.empty() ? "" : ", ").append(id);
    }
  }
  if (records.items().empty()) return Error{Code::not_found, "show: there is no " + names};
  return Json::object({{"records", records}, {"missing", missing}});
}

std::vector<Operation> record_operations() {
  return {
      {.name = "show",
       .group = Group::memory,
       .summary = "whole records, by their ids: S3, O12, P7, T5, E8, D2, W4",
       .help = "Ids are shown in the context, in `cairn search`, `cairn sessions show` and JSON results. Of "
               "several it shows those that exist and names the others; the exit code is then 1, and 3 when "
               "none exists.",
       .arguments = {records("ids", "SOPTAEDW:", "the records").words().needed(),
                     path("cwd", "where an agent asks from").in_requests(), asked_by_agent()},
       .body = show},
      {.name = "why",
       .group = Group::memory,
       .summary = "what a record came from, back to the raw events",
       .help = "An observation names its events; a summary came from all events of its turn.",
       .arguments = {ops::record("id", kAnyRecord, "the record").word().needed(),
                     flag("full", "the whole texts of the events")},
       .body = why},
  };
}

}  // namespace cairn::ops
