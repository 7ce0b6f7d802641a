// The chain of documents, starting afresh, and taking that back.
//
// What can be undone leaves an entry (store::UndoEntry) with its kind and, as JSON, what is needed to take
// it back. The entry is written in the transaction of the change, and ended in that of the undo. `undo`
// takes the newest entry of the project; again, the one before it.
#include <fmt/format.h>

#include "base/text.h"
#include "documents/chain.h"
#include "ops/correct.h"
#include "ops/documents.h"
#include "store/documents.h"
#include "store/notes.h"
#include "store/open_items.h"
#include "store/projects.h"

namespace cairn::ops {

namespace {

constexpr Millis kTrash = std::chrono::hours(24 * 30);  // how long undo can take it back
constexpr std::string_view kFreshStart = "fresh-start";

Result<Json> chain(World& world, const Args& args) {
  const std::string project = TRY(one_project(world, args));
  const documents::Chain found = TRY(documents::read_chain(world.db, project));
  Json links = Json::array(), problems = Json::array();
  for (const documents::Link& link : found.links) {
    Json next = Json::array();
    for (const std::int64_t id : link.next) next.push(store::document_label(id));
    links.push(TRY(document_json(world, link.document))
                   .set("previous_id", link.document.previous
                                           ? Json(store::document_label(*link.document.previous))
                                           : Json())
                   .set("next", next)
                   .set("fork", link.forks())
                   .set("missing", link.missing.empty() ? Json() : Json(link.missing))
                   .set("cycle", link.in_cycle));
  }
  for (const std::string& problem : found.problems()) problems.push(problem);
  return Json::object({{"project", project},
                       {"documents", links},
                       {"problems", problems},
                       {"mermaid", documents::mermaid(found)}});
}

// What a fresh start takes away.
struct Leaving {
  std::vector<store::Document> documents;
  std::vector<store::Backup> pending;
  std::vector<store::OpenItem> open;
  std::vector<store::Note> notes;
};

Result<Leaving> leaving(World& world, const std::string& project, bool all) {
  Leaving out;
  store::DocumentQuery query;
  query.project = project;
  out.documents = TRY(store::list_documents(world.db, query));
  for (const store::SessionBackups& session : TRY(store::session_backups(world.db)))
    if (session.pending && session.newest.project == project && session.newest.key.agent.empty())
      out.pending.push_back(session.newest);
  store::OpenItemQuery items;
  items.project = project;
  items.limit = 100'000;  // all of them
  out.open = TRY(store::open_items(world.db, items));
  // Only the project's own: a note for all projects is not this project's to remove.
  if (all)
    for (const store::Note& note : TRY(store::notes_for(world.db, project, 100'000)))
      if (!note.for_all && note.project == project) out.notes.push_back(note);
  return out;
}

// Puts it away, and notes what: undo must bring back exactly this, not what was put away or closed before.
Status take_away(World& world, const std::string& project, const Leaving& out) {
  const WallTime now = world.clock.now();
  Json documents = Json::array(), discards = Json::array(), items = Json::array(), notes = Json::array();
  for (const store::Document& document : out.documents) {
    TRY(store::trash_document(world.db, document.id, now));
    documents.push(document.id);
  }
  for (const store::Backup& backup : out.pending) {
    const auto before = TRY(store::discarded_up_to(world.db, backup.key));
    TRY(store::discard_backups(world.db, backup, now));
    discards.push(Json::object({{"platform", backup.key.platform},
                                {"session", backup.key.session},
                                {"backup", number_or_null(before)}}));
  }
  for (const store::OpenItem& item : out.open) {
    TRY(store::close_open_item(world.db, item.id, kFreshStart, {}, now));
    items.push(item.id);
  }
  for (const store::Note& note : out.notes) {
    TRY(store::end_note(world.db, note.observation, now));
    notes.push(note.observation);
  }
  store::UndoEntry entry;
  entry.project = project;
  entry.what = kFreshStart;
  entry.detail =
      Json::object({{"documents", documents}, {"discards", discards}, {"items", items}, {"notes", notes}})
          .dump();
  entry.at = now;
  entry.expires_at = now + kTrash;
  TRY(store::add_undo(world.db, entry));
  return {};
}

Result<Json> fresh_start(World& world, const Args& args) {
  const std::string project = TRY(one_project(world, args));
  const bool dry_run = args.flag("dry_run");
  Leaving out;
  if (dry_run) {
    out = TRY(leaving(world, project, args.flag("all")));
  } else {
    TRY(store::in_transaction(world.db, [&]() -> Status {
      out = TRY(leaving(world, project, args.flag("all")));
      return take_away(world, project, out);
    }));
  }
  return Json::object({{"project", project},
                       {"dry_run", dry_run},
                       {"documents", out.documents.size()},
                       {"pending", out.pending.size()},
                       {"open", out.open.size()},
                       {"notes", out.notes.size()},
                       {"undo_until", iso8601(world.clock.now() + kTrash)}});
}

Status take_back_discard(World& world, const Json& one) {
  const store::TranscriptKey key{std::string(one["platform"].as_string()),
                                 std::string(one["session"].as_string()), ""};
  const auto before = one["backup"].is_int() ? std::optional(one["backup"].as_int()) : std::nullopt;
  return store::set_discard(world.db, key, before, world.clock.now());
}

Status take_back(World& world, const store::UndoEntry& entry) {
  const auto detail = Json::parse(entry.detail);
  if (!detail) return Error{Code::corrupt, "undo: entry " + std::to_string(entry.id) + " is damaged"};
  if (is_correction(entry.what)) return take_back_correction(world, entry.what, *detail);
  if (entry.what == "coalesce") return store::revert_document(world.db, (*detail)["document"].as_int());
  if (entry.what == "discard") return take_back_discard(world, *detail);
  // The only other kind is a fresh start.
  for (const Json& id : (*detail)["documents"].items()) TRY(store::restore_document(world.db, id.as_int()));
  for (const Json& one : (*detail)["discards"].items()) TRY(take_back_discard(world, one));
  for (const Json& id : (*detail)["items"].items())
    TRY(store::reopen_item(world.db, id.as_int(), entry.what));
  for (const Json& id : (*detail)["notes"].items()) TRY(store::give_note_again(world.db, id.as_int()));
  return {};
}

Result<Json> undo(World& world, const Args& args) {
  const std::string project = TRY(one_project(world, args));
  const WallTime now = world.clock.now();
  const auto entry = TRY(store::last_undo(world.db, project, now));
  if (!entry) return Error{Code::not_found, "undo: there is nothing to take back in this project"};
  const bool dry_run = args.flag("dry_run");
  if (!dry_run)
    TRY(store::in_transaction(world.db, [&]() -> Status {
      TRY(take_back(world, *entry));
      return store::end_undo(world.db, entry->id, now);
    }));
  return Json::object(
      {{"project", project}, {"what", entry->what}, {"at", iso8601(entry->at)}, {"dry_run", dry_run}});
}

}  // namespace

std::vector<Operation> undo_operations() {
  return {
      {.name = "chain",
       .group = Group::memory,
       .summary = "which document follows which; forks, gaps, cycles",
       .help = "A fork is a document that two others follow, a gap a predecessor that is missing, a cycle "
               "documents "
               "that follow each other. The exit code is 1 when there is one.",
       .scope = Scope::one,
       .arguments = {choice("format", "text|mermaid|json", "how it is shown (default text)")},
       .body = chain},
      {.name = "fresh-start",
       .access = Access::write,
       .group = Group::memory,
       .summary = "put this project's documents, pending backups and open items away",
       .help =
           "Sessions and what was learned from them stay, backups too: they are only pending no more. With "
           "--all "
           "the project's notes are no longer given either. Asks first; `cairn undo` takes it back within 30 "
           "days, after that the documents are deleted.",
       // Not Scope::one: with a scope --all means every project, and the command line sends no directory.
       .scope = Scope::none,
       .arguments = {path("cwd", "the project that this directory belongs to").as("DIR"),
                     text("project", "the project of that name").as("NAME"),
                     flag("all", "the project's notes too"),
                     flag("dry_run", "say what would go; change nothing")},
       .body = fresh_start},
      {.name = "undo",
       .access = Access::write,
       .group = Group::memory,
       .summary = "take back the last correction, fresh start, coalesce or discard of this project",
       .help = "Again for the one before it. Possible for 30 days.",
       .scope = Scope::one,
       .arguments = {flag("dry_run", "say what would be taken back; change nothing")},
       .body = undo}};
}

}  // namespace cairn::ops
