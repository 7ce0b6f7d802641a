// Going on from a document: `resume`, and `coalesce`, which brings a document up to date.
//
// A document has an anchor: the last line of the archived transcript that it covers. What came after it is
// the rest of the transcript (since_document). `resume` shows that; `coalesce` appends it to the document
// and moves the anchor; `discard` notes that it is not wanted. Both can be undone.
#include "documents/resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "context/story.h"
#include "documents/chain.h"
#include "ops/backup.h"
#include "ops/documents.h"
#include "ops/records.h"
#include "store/open_items.h"
#include "store/projects.h"

namespace cairn::ops {

namespace {

// How long what was discarded or coalesced can be taken back.
constexpr Millis kUndoable = std::chrono::hours(24 * 30);
constexpr std::size_t kMostSessions = 5;  // later ones that are named

std::string backup_label(const store::Backup& backup) {
  return "B" + std::to_string(backup.id);
}

Result<std::optional<store::Session>> session_of(World& world, const store::Document& document) {
  if (document.session.empty()) return std::optional<store::Session>();
  return store::find_session(world.db, document.platform, ContentId{document.session});
}

// What happened after the document; nothing when its transcript is not archived or nothing says where it
// ends.
Result<std::optional<documents::Since>> since_document(World& world, const store::Document& document) {
  const auto anchor = TRY(store::document_anchor(world.db, document.id));
  if (!anchor || document.session.empty()) return std::optional<documents::Since>();
  auto since =
      documents::material_since(world.db, world.disk, archive_of(world.home), anchor->key, anchor->anchor,
                                TRY(directory_of(world, document.project, {})), mode_of(world));
  if (since) return std::optional(*std::move(since));
  if (since.error().code == Code::not_found) return std::optional<documents::Since>();
  return std::move(since).error();
}

// The sessions of the project that were at work after the document, newest first.
Result<std::vector<std::string>> later_sessions(World& world, const store::Document& document,
                                                const std::string& asking) {
  std::vector<std::string> out;
  const WallTime after = document.updated_at.value_or(document.created_at);
  for (const store::Session& session : TRY(store::list_sessions(world.db, document.project, 50))) {
    const std::string& id = session.content_id.value;
    if (session.last_event_at <= after || id == document.session || id == asking) continue;
    if (session.prompt_count == 0) continue;
    if (out.size() == kMostSessions) break;
    const documents::Material m = TRY(documents::material_of(world.db, session, mode_of(world)));
    out.push_back(
        fmt::format("{} \"{}\": {} edited, {} ({})", iso8601(session.last_event_at).substr(0, 16) + "Z",
                    one_line(m.title.empty() ? session.user_prompt : m.title, 90),
                    m.files.size() == 1 ? "1 file" : fmt::format("{} files", m.files.size()),
                    m.commits.size() == 1 ? "1 commit" : fmt::format("{} commits", m.commits.size()), id));
  }
  return out;
}

// Items that the text names as "(W12)" and that are closed.
Result<std::vector<std::int64_t>> closed_items(World& world, std::string_view body) {
  std::vector<std::int64_t> closed;
  for (std::size_t at = body.find("(W"); at != std::string_view::npos; at = body.find("(W", at + 2)) {
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(body.data() + at + 2, body.data() + body.size(), id);
    if (error != std::errc() || end == body.data() + body.size() || *end != ')') continue;
    const auto item = TRY(store::find_open_item(world.db, id));
    if (item && item->closed_at) closed.push_back(id);
  }
  return closed;
}

Json since_json(const std::optional<documents::Since>& since) {
  if (!since) return {};
  const auto list = [](const std::vector<std::string>& lines) {
    Json out = Json::array();
    for (const std::string& line : lines) out.push(line);
    return out;
  };
  const documents::Material& m = since->material;
  return Json::object({{"anchor", since->delta.anchor},
                       {"anchor_at", since->delta.anchor_at},
                       {"backup", backup_label(since->delta.newest)},
                       {"records", since->delta.records},
                       {"malformed", since->delta.malformed},
                       {"turns", m.turns},
                       {"has_work", m.has_work()},
                       {"requests", list(m.requests)},
                       {"files", list(m.files)},
                       {"commits", list(m.commits)},
                       {"decisions", list(m.decisions)},
                       {"failed", list(m.failed)}});
}

// What is pending after the document, and what to do with it. Nothing for a draft that is not stored
// (number 0): it covers its session to the end.
Json pending_json(const store::Document& document, const std::optional<documents::Since>& since) {
  if (!since || since->delta.records == 0 || document.id == 0) return {};
  const documents::Material& m = since->material;
  std::string why =
      m.has_work()
          ? fmt::format("it has work: {} edited, {}",
                        m.files.size() == 1 ? "1 file" : fmt::format("{} files", m.files.size()),
                        m.commits.size() == 1 ? "1 commit" : fmt::format("{} commits", m.commits.size()))
          : std::string("it has no edits and no commits");
  return Json::object({{"backup", backup_label(since->delta.newest)},
                       {"records", since->delta.records},
                       {"has_work", m.has_work()},
                       {"why", why},
                       {"recommended", m.has_work() ? "coalesce" : "discard"},
                       {"choices", Json::array({"delta", "coalesce", "discard"})}});
}

// Notes that everything up to the newest backup is not wanted. For undo it stores up to which backup that
// was so before.
Status discard_pending(World& world, const store::Document& document) {
  const store::TranscriptKey key{document.platform, document.session, ""};
  const auto newest = TRY(store::newest_backup(world.db, key));
  if (!newest) return Error{Code::not_found, "there is no backup to discard"};
  return store::in_transaction(world.db, [&]() -> Status {
    const auto before = TRY(store::discarded_up_to(world.db, key));
    TRY(store::discard_backups(world.db, *newest, world.clock.now()));
    const Json detail = Json::object(
        {{"platform", key.platform}, {"session", key.session}, {"backup", number_or_null(before)}});
    store::UndoEntry entry;
    entry.project = document.project;
    entry.what = "discard";
    entry.detail = detail.dump();
    entry.at = world.clock.now();
    entry.expires_at = entry.at + kUndoable;
    TRY(store::add_undo(world.db, entry));
    return {};
  });
}

std::size_t room_for(World& world, const Args& args) {
  if (const auto bytes = args.optional_integer("brief")) return static_cast<std::size_t>(*bytes);
  // Twice what every session is given (four bytes a token), because the user asked for it.
  return std::max<std::size_t>(4'000,
                               8 * static_cast<std::size_t>(world.settings.integer("context.budget_tokens")));
}

// The document to go on from. Without any, a draft of the last session is made and not stored.
Result<ResumeRequest> find_start(World& world, const Args& args, const std::string& project) {
  ResumeRequest request;
  request.project = project;
  request.asking = args.text("from");
  request.max_bytes = room_for(world, args);
  request.sections = args.texts("sections");
  const auto newest = TRY(store::newest_document(world.db, project));
  if (args.has("id") || newest) {
    request.document = TRY(document_named(world, project, args.name("id")).in("resume"));
    return request;
  }
  for (const store::Session& session : TRY(store::list_sessions(world.db, project, 10))) {
    // The session that asks is the one that wants to go on: it is not what it goes on from.
    if (session.content_id.value == request.asking || session.prompt_count == 0) continue;
    request.document = TRY(draft_document(world, session, ""));
    request.document.session = session.content_id.value;
    request.document.platform = session.platform;
    request.document.created_at = session.last_event_at;
    return request;
  }
  return Error{Code::not_found, "resume: nothing to resume: no document and no session of this project"};
}

// What resuming does with the work that came after the document: show it, add it to the document, or drop it.
enum class Later { delta, coalesce, discard };

Later later_of(std::string_view choice) {
  if (choice == "coalesce") return Later::coalesce;
  return choice == "discard" ? Later::discard : Later::delta;
}

Result<Json> resume(World& world, const Args& args) {
  const std::string project = TRY(one_project(world, args));
  const bool dry_run = args.flag("dry_run");
  const std::string choice = args.optional_text("pending").value_or("delta");
  const Later later = later_of(choice);
  if (!dry_run)
    TRY(store::in_transaction(world.db,
                              [&] { return world.intake->recorder().update_project(project, ContentId{}); }));
  ResumeRequest request = TRY(find_start(world, args, project));
  const bool stored = request.document.id != 0;
  // Its session's last lines may not be archived yet. A dry run writes nothing, so it goes by what is
  // archived.
  if (const auto session = stored && !dry_run ? TRY(session_of(world, request.document)) : std::nullopt)
    TRY(copy_now(world, *session));
  documents::ResumeInput input = TRY(resume_input(world, request));
  const Json pending = pending_json(request.document, input.since);
  const bool changes = pending.is_object() && later != Later::delta;
  if (changes && !dry_run) {
    if (later == Later::coalesce) request.document = TRY(coalesce_document(world, request.document)).document;
    if (later == Later::discard) TRY(discard_pending(world, request.document));
    request.leave_out_since = later == Later::discard;
    input = TRY(resume_input(world, request));
  }
  const documents::Resumed resumed = documents::resume(input);
  if (!input.wanted.empty() && resumed.text.find("\n## ") == std::string::npos)
    return Error{Code::not_found, "resume: the document has none of these sections: `cairn docs show`"};
  Json shortened = Json::array(), writes = Json::array(), open = Json::array();
  for (const std::string& part : resumed.shortened) shortened.push(part);
  for (const store::OpenItem& item : input.open) open.push(open_item_json(item));
  if (changes && dry_run)
    writes.push(later == Later::coalesce ? "the document is brought up to date"
                                         : "the pending backup is discarded");
  return Json::object({{"project", project},
                       {"document", stored ? TRY(document_json(world, input.document)) : Json()},
                       {"dry_run", dry_run},
                       {"choice", choice},
                       {"pending", pending},
                       {"since", since_json(input.since)},
                       {"later_sessions", input.sessions.size()},
                       {"open", open},
                       {"shortened", shortened},
                       {"writes", writes},
                       {"text", resumed.text},
                       {"bytes", resumed.text.size()},
                       {"tokens", estimate_tokens(resumed.text)}});
}

Result<Json> coalesce(World& world, const Args& args) {
  const std::string project = TRY(one_project(world, args));
  const store::Document document = TRY(document_named(world, project, args.name("id")).in("coalesce"));
  const Coalesced done = TRY(coalesce_document(world, document).in("coalesce"));
  return Json::object({{"document", TRY(document_json(world, done.document))},
                       {"changed", done.changed},
                       {"records", done.records},
                       {"anchor", done.anchor},
                       {"backup", done.backup}});
}

}  // namespace

Result<documents::ResumeInput> resume_input(World& world, const ResumeRequest& request) {
  documents::ResumeInput input;
  input.document = request.document;
  input.wanted = request.sections;
  input.max_bytes = request.max_bytes;
  if (request.document.id != 0) {
    input.name = documents::name_of(input.document);
    if (!input.document.title.empty() && input.name != store::document_label(input.document.id))
      input.name = store::document_label(input.document.id) + " " + input.name;
    input.age = request.age.empty() ? ago(input.document.created_at, world.clock.now()) : request.age;
    if (!request.leave_out_since) input.since = TRY(since_document(world, input.document));
  }
  input.sessions = TRY(later_sessions(world, input.document, request.asking));
  store::OpenItemQuery query;
  query.project = request.project;
  input.open = TRY(store::open_items(world.db, query));
  input.closed = TRY(closed_items(world, input.document.body));
  input.drift =
      documents::read_drift(world.disk, TRY(directory_of(world, request.project, {})), input.document);
  return input;
}

Result<Coalesced> coalesce_document(World& world, store::Document document) {
  const std::string name = documents::name_of(document);
  const auto session = TRY(session_of(world, document));
  if (document.session.empty())
    return Error{Code::not_found, name + " belongs to no session: there is no transcript to add from"};
  if (session) TRY(copy_now(world, *session));
  const store::TranscriptKey key{document.platform, document.session, ""};
  const auto newest = TRY(store::newest_backup(world.db, key));
  if (!newest) return Error{Code::not_found, "the transcript of " + name + " is not archived"};
  auto since = TRY(since_document(world, document));
  if (!since) return Error{Code::not_found, "nothing says up to where " + name + " covers its transcript"};
  Coalesced out;
  out.records = since->delta.records;
  out.anchor = since->delta.anchor + " " + since->delta.anchor_at;
  out.backup = backup_label(since->delta.newest);
  out.document = document;
  if (since->delta.records == 0) return out;
  const WallTime now = world.clock.now();
  // Lines without anything worth telling still move the anchor, so that they are not pending for ever.
  if (!since->material.empty()) {
    const documents::Section block =
        documents::continuation(*since, out.backup, since->material.to.value_or(now));
    document.body += "\n" + documents::write_sections({block});
  }
  document.backup = newest->id;
  document.anchor = TRY(archive::whole_anchor(world.db, world.disk, archive_of(world.home), *newest));
  TRY(store::in_transaction(world.db, [&]() -> Status {
    TRY(store::update_document(world.db, document, now));
    store::UndoEntry entry;
    entry.project = document.project;
    entry.what = "coalesce";
    entry.detail = Json::object({{"document", document.id}}).dump();
    entry.at = now;
    entry.expires_at = now + kUndoable;
    TRY(store::add_undo(world.db, entry));
    return {};
  }));
  out.changed = true;
  document.updated_at = now;
  out.document = document;
  return out;
}

std::vector<Operation> resume_operations() {
  return {
      {.name = "resume",
       .access = Access::write,
       .group = Group::memory,
       .summary = "go on from a document: it, what happened since, what is open",
       .help = "The newest document of the project, or the one that is named. First comes what is new: the "
               "rest of "
               "its session's transcript, later sessions, the working tree, what is open, what did not work. "
               "Without any document the last session is shown instead.\n\n"
               "When its session went on after it, --pending says what becomes of that: `delta` shows it and "
               "changes nothing, `coalesce` adds it to the document first, `discard` leaves it out for good "
               "(`cairn undo` takes that back). On a terminal you are asked.",
       .scope = Scope::one,
       .arguments = {document("id", "the document (default: the newest)").word(),
                     choice("pending", "delta|coalesce|discard", "what to do with what came after it"),
                     flag("dry_run", "say what would be read and written; change nothing"),
                     texts("sections", "only these sections of the document").as("A,B").by_commas(),
                     integer("brief", 200, 1'000'000, "at most this many bytes").as("BYTES"),
                     text("from", "the session that asks, if it is known").in_requests(), asked_by_agent()},
       .body = resume},
      {.name = "coalesce",
       .access = Access::write,
       .group = Group::memory,
       .summary = "bring a document up to date with what happened after it",
       .help =
           "Appends what its session did since, from the archived transcript, and moves its anchor there: a "
           "second run changes nothing. `cairn undo` takes it back.",
       .scope = Scope::one,
       .arguments = {document("id", "the document (default: the newest)").word()},
       .body = coalesce}};
}

}  // namespace cairn::ops
