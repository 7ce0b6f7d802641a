#include "ops/documents.h"

#include <algorithm>

#include "archive/archiver.h"
#include "base/text.h"
#include "documents/chain.h"
#include "documents/draft.h"
#include "documents/text.h"
#include "documents/tree.h"
#include "event/origin.h"
#include "gate/private_text.h"
#include "intake/session_secrets.h"
#include "ops/backup.h"
#include "ops/mode.h"
#include "ops/records.h"
#include "os/path.h"
#include "store/open_items.h"
#include "store/projects.h"

namespace cairn::ops {

namespace {

constexpr std::size_t kMostDocument = 1u << 20;
constexpr std::size_t kDocumentTitle = 120, kTag = 60;  // bytes

// The first line with text, as a title. "# Title" counts; "## Section" does not: every document has those.
std::string title_of(std::string_view body) {
  for (const std::string_view line : lines(body)) {
    std::string_view text = trim(line);
    while (text.starts_with('#')) text.remove_prefix(1);
    if (!trim(text).empty() && !line.starts_with("## ")) return one_line(text, kDocumentTitle);
  }
  return {};
}

// The session that a request is about: the one it names, else the one it comes from, else the one of the
// project that was at work last. A session without a prompt has done nothing yet.
Result<std::optional<store::Session>> session_for(World& world, const Args& args,
                                                  const std::string& project) {
  if (args.has("session")) return std::optional(TRY(resolve_session(world, args.name("session"))));
  if (const auto from = args.optional_text("from"))
    for (const store::Session& one : TRY(store::sessions_named(world.db, *from)))
      if (one.content_id.value == *from && one.project == project && one.prompt_count > 0)
        return std::optional(one);
  constexpr std::int64_t kLatest = 50;
  for (store::Session& one : TRY(store::list_sessions(world.db, project, kLatest)))
    if (one.prompt_count > 0) return std::optional(std::move(one));
  return std::optional<store::Session>();
}

// The text that was given, itself or as a file; empty: none.
Result<std::string> given_text(World& world, const Args& args) {
  if (!args.has("file")) return args.text("text");
  return os::read_file(world.disk, args.text("file"), kMostDocument).in("save");
}

// Front matter that a writer gives may set title, status and tags. Cairn sets the rest, above all the date.
void take_front(const documents::DocumentText& text, store::Document& document) {
  if (const std::string title = text.value("title"); !title.empty())
    document.title = one_line(title, kDocumentTitle);
  if (const std::string status = text.value("status"); !status.empty()) document.status = status;
  if (const documents::Field* tags = text.field("tags"))
    for (const std::string& tag : tags->values) document.tags.push_back(tag);
}

// The argument `status` was checked, but front matter can set it too.
Status check_document(const store::Document& document) {
  const auto allowed = split(documents::kStatuses, '|');
  if (std::find(allowed.begin(), allowed.end(), document.status) == allowed.end())
    return Error{Code::invalid, "save: the text's status is none of in-progress, completed, blocked"};
  return {};
}

Result<Json> problems_json(World& world, const std::string& text) {
  Json list = Json::array();
  const documents::Template form = TRY(load_template(world));
  for (const documents::TextProblem& problem : documents::lint(text, form))
    list.push(
        Json::object({{"line", problem.line == 0 ? Json() : Json(problem.line)}, {"what", problem.what}}));
  return list;
}

// The document of `save`. A text with headings is the whole document; a text without any is the summary of
// a draft; no text means a draft alone. Values of arguments win over front matter.
Result<store::Document> compose_document(World& world, const Args& args, const std::string& project,
                                         const std::optional<store::Session>& session) {
  const std::string given = TRY(given_text(world, args));
  if (given.size() > kMostDocument) return Error{Code::invalid, "save: the text is longer than 1 MB"};
  const std::string content_id = session ? session->content_id.value : "";
  std::string clean = TRY(clean_document(world, content_id, given));
  if (!trim(given).empty() && gate::only_private(clean))
    return Error{Code::invalid, "save: nothing to save: the text is wholly private"};
  const documents::DocumentText text = documents::read_text(clean);
  const bool has_sections = std::any_of(text.sections.begin(), text.sections.end(),
                                        [](const documents::Section& one) { return !one.name.empty(); });
  store::Document document;
  if (has_sections || !session) {
    if (trim(clean).empty())
      return Error{Code::not_found,
                   "save: no session of this project is remembered to draft from: give a text"};
    document.body = documents::write_sections(text.sections);
    document.title = title_of(document.body);
  } else {
    document = TRY(draft_document(world, *session, documents::write_sections(text.sections)));
  }
  if (!trim(clean).empty())
    document.source = by_agent(args) ? store::DocumentSource::agent : store::DocumentSource::person;
  document.project = project;
  take_front(text, document);
  if (args.has("title"))
    document.title = one_line(TRY(clean_document(world, content_id, args.text("title"))), kDocumentTitle);
  if (args.has("status")) document.status = args.text("status");
  for (const std::string& tag : args.texts("tag"))
    document.tags.push_back(one_line(TRY(clean_document(world, content_id, tag)), kTag));
  std::erase(document.tags, "");
  std::sort(document.tags.begin(), document.tags.end());
  document.tags.erase(std::unique(document.tags.begin(), document.tags.end()), document.tags.end());
  TRY(check_document(document));
  return document;
}

// A project that is not known yet is made only for a text: there is nothing to draft from.
Result<std::string> project_to_save_for(World& world, const Args& args) {
  auto known = one_project(world, args);
  if (known || known.error().code != Code::not_found || args.has("project")) return known;
  if (!args.has("text") && !args.has("file")) return std::move(known).error().in("save");
  return project_for(world, args);
}

Result<Json> save(World& world, const Args& args) {
  const std::string project = TRY(project_to_save_for(world, args));
  const auto session = TRY(session_for(world, args, project));
  if (session && session->project != project)
    return Error{Code::invalid, "save: session " + session->content_id.value + " is of project " +
                                    session->project + ": name that project too"};
  // The turn that is under way gets its interim summary, which the draft needs.
  TRY(store::in_transaction(world.db,
                            [&] { return world.intake->recorder().update_project(project, ContentId{}); }));
  store::Document document = TRY(compose_document(world, args, project, session));
  // The transcript is copied before the document is stored: its anchor must point into the copy.
  if (session) TRY(add_place(world, *session, document));
  TRY(store::in_transaction(world.db, [&]() -> Status {
    document = TRY(store_document(world, std::move(document)));
    return {};
  }));
  const std::string text = TRY(document_text(world, document));
  return TRY(document_json(world, document))
      .set("text", text)
      .set("problems", TRY(problems_json(world, text)));
}

Result<Json> list_documents(World& world, const Args& args) {
  store::DocumentQuery query;
  query.project = TRY(project_of(world, args));
  query.tag = args.optional_text("tag");
  query.trash = args.flag("trash");
  query.limit = args.integer("limit");
  Json list = Json::array();
  for (const store::Document& document : TRY(store::list_documents(world.db, query)))
    list.push(TRY(document_json(world, document)));
  return Json::object({{"documents", list}});
}

// A document that a request names; the project matters only for names.
Result<store::Document> asked_for(World& world, const Args& args, std::string_view name) {
  return document_named(world, TRY(one_project(world, args)), args.name(name));
}

Result<Json> show_document(World& world, const Args& args) {
  const store::Document document = TRY(asked_for(world, args, "id").in("docs show"));
  return TRY(document_json(world, document)).set("text", TRY(document_text(world, document)));
}

Result<Json> lint_document(World& world, const Args& args) {
  const std::string target = args.name("target");
  std::string text;
  Json name;
  if (target.starts_with('/')) {
    text = TRY(os::read_file(world.disk, target, kMostDocument).in("docs lint"));
    name = target;
  } else {
    const store::Document document = TRY(asked_for(world, args, "target").in("docs lint"));
    text = TRY(document_text(world, document));
    name = documents::name_of(document);
  }
  const Json problems = TRY(problems_json(world, text));
  return Json::object({{"document", name}, {"ok", problems.items().empty()}, {"problems", problems}});
}

Result<Json> diff_documents(World& world, const Args& args) {
  const store::Document after =
      TRY(asked_for(world, args, args.has("other") ? "other" : "id").in("docs diff"));
  store::Document before;
  if (args.has("other")) {
    before = TRY(asked_for(world, args, "id").in("docs diff"));
  } else if (const auto previous =
                 after.previous ? TRY(store::find_document(world.db, *after.previous)) : std::nullopt) {
    before = *previous;
  } else {
    return Error{Code::not_found, "docs diff: " + documents::name_of(after) +
                                      " has no predecessor here: name the other document too"};
  }
  const documents::DocumentText a = documents::read_text(before.body), b = documents::read_text(after.body);
  Json sections = Json::array();
  const auto add = [&](const std::string& name, const documents::Section* old_one,
                       const documents::Section* new_one) {
    const std::string was = old_one ? old_one->text : "", is = new_one ? new_one->text : "";
    if (was == is && old_one && new_one) return;
    sections.push(Json::object({{"section", name},
                                {"change", !old_one   ? "added"
                                           : !new_one ? "removed"
                                                      : "changed"},
                                {"before", old_one ? Json(was + "\n") : Json()},
                                {"after", new_one ? Json(is + "\n") : Json()}}));
  };
  // In the order of the older document; sections that only the newer one has come last.
  for (const documents::Section& section : a.sections) add(section.name, &section, b.section(section.name));
  for (const documents::Section& section : b.sections)
    if (!a.section(section.name)) add(section.name, nullptr, &section);
  return Json::object(
      {{"before", documents::name_of(before)}, {"after", documents::name_of(after)}, {"sections", sections}});
}

Result<Json> show_template(World& world, const Args&) {
  const auto own = os::read_file(world.disk, template_path(world.home), kMostDocument);
  return Json::object({{"path", template_path(world.home)},
                       {"built_in", !own.ok()},
                       {"text", own.ok() ? *own : std::string(documents::default_template())}});
}

}  // namespace

std::string template_path(const hook::Home& home) {
  return os::above(home.config_file) + "/" + std::string(documents::kTemplateFile);
}

Result<documents::Template> load_template(World& world) {
  const std::string path = template_path(world.home);
  const auto own = os::read_file(world.disk, path, kMostDocument);
  if (!own && own.error().code != Code::not_found)
    return Error{own.error().code, path + ": " + own.error().message};
  documents::Template form =
      documents::read_template(own ? std::string_view(*own) : documents::default_template());
  if (form.sections.empty())
    return Error{Code::invalid, path + " has no section: a line such as \"## Session Summary\" begins one"};
  return form;
}

distil::Mode mode_of(World& world) {
  auto mode = load_mode(world.disk, world.home, world.settings.text("agent.mode"));
  return mode ? *std::move(mode) : distil::code_mode();
}

Result<store::Document> document_named(World& world, const std::string& project, const std::string& name) {
  if (name.empty()) {
    if (auto newest = TRY(store::newest_document(world.db, project))) return *std::move(newest);
    return Error{Code::not_found, "there is no document of this project yet: `cairn save` writes one"};
  }
  auto found = TRY(store::documents_named(world.db, project, name));
  if (found.empty())
    return Error{Code::not_found, "there is no such document: `cairn docs list` shows those that are"};
  return std::move(found.front());
}

Result<std::string> document_text(World& world, const store::Document& document) {
  return documents::front_matter(document, TRY(documents::previous_name(world.db, document))) + "\n" +
         document.body;
}

Result<Json> document_json(World& world, const store::Document& d) {
  Json tags = Json::array();
  for (const std::string& tag : d.tags) tags.push(tag);
  const std::string previous = TRY(documents::previous_name(world.db, d));
  return Json::object({{"id", store::document_label(d.id)},
                       {"name", d.name.empty() ? Json() : Json(d.name)},
                       {"title", d.title},
                       {"project", d.project},
                       {"status", d.status},
                       {"tags", tags},
                       {"branch", d.branch},
                       {"session", d.session.empty() ? Json() : Json(d.session)},
                       {"previous", previous.empty() ? Json() : Json(previous)},
                       {"source", store::name_of(d.source)},
                       {"backup", d.backup ? Json("B" + std::to_string(*d.backup)) : Json()},
                       {"anchor_line", number_or_null(d.anchor.lines)},
                       {"created_at", iso8601(d.created_at)},
                       {"updated_at", time_or_null(d.updated_at)},
                       {"bytes", d.body.size()},
                       {"tokens", estimate_tokens(d.body)}});
}

Result<std::string> directory_of(World& world, const std::string& project,
                                 const std::optional<std::string>& worktree) {
  if (worktree && !worktree->empty()) return *worktree;
  const auto row = TRY(store::project_by_name(world.db, project));
  return row ? row->root : std::string();
}

Result<std::string> clean_document(World& world, const std::string& session, const std::string& text) {
  const gate::Gate& gate = world.intake->gate();
  std::string clean = gate.clean(valid_utf8(text), gate::Way::document);
  // A password that the gate knows only from where it was seen before ("PASSWORD=...") looks like any word
  // here.
  if (!session.empty()) {
    intake::SessionSecrets secrets(world.db);
    gate::KnownSecrets known = *TRY(secrets.of(session));
    gate::Secrets::Reading reading(false, &known);
    reading.known_only = true;
    gate.secrets().remove(clean, reading);
  }
  return labelled(visible(clean));
}

Result<std::optional<store::Backup>> copy_now(World& world, const store::Session& session) {
  const store::TranscriptKey key{session.platform, session.content_id.value, ""};
  auto copied = world.archiver ? world.archiver->copy_now(key, session.transcript_path, session.project,
                                                          store::BackupCause::document)
                               : store::newest_backup(world.db, key);
  if (copied) return copied;
  // An older copy is enough for a document: only its anchor is further back.
  if (auto known = TRY(store::newest_backup(world.db, key))) return std::optional(*std::move(known));
  return std::move(copied).error().in("the transcript could not be copied");
}

Status add_place(World& world, const store::Session& session, store::Document& document) {
  document.platform = session.platform;
  document.session = session.content_id.value;
  document.branch = session.branch;
  const std::string directory = TRY(directory_of(world, session.project, session.worktree));
  const documents::TreeState tree = documents::read_tree(world.disk, directory, {});
  if (!tree.branch.empty()) document.branch = TRY(clean_document(world, document.session, tree.branch));
  document.head_commit = tree.head;
  if (const auto backup = TRY(copy_now(world, session))) {
    document.backup = backup->id;
    document.anchor =
        TRY(archive::whole_anchor(world.db, world.disk, archive_of(world.home), *backup).in("save"));
  }
  return {};
}

Result<store::Document> draft_document(World& world, const store::Session& session,
                                       const std::string& summary) {
  documents::DraftInput input;
  input.material = TRY(documents::material_of(world.db, session, mode_of(world)));
  input.summary = std::string(trim(summary));
  store::OpenItemQuery query;
  query.project = session.project;
  input.open = TRY(store::open_items(world.db, query));
  input.tree = documents::read_tree(world.disk, TRY(directory_of(world, session.project, session.worktree)),
                                    input.material.files);
  store::Document document;
  document.source = store::DocumentSource::draft;
  document.project = session.project;
  // Names of the working tree are the only words that did not pass the gate yet.
  for (std::string& file : input.tree.uncommitted)
    file = TRY(clean_document(world, session.content_id.value, file));
  input.tree.branch = TRY(clean_document(world, session.content_id.value, input.tree.branch));
  document.body = documents::draft(input, TRY(load_template(world)));
  document.title = input.summary.empty() ? input.material.title : title_of(input.summary);
  if (document.title.empty()) document.title = title_of(document.body);
  document.title = one_line(document.title, kDocumentTitle);
  return document;
}

Result<store::Document> store_document(World& world, store::Document document) {
  document.created_at = world.clock.now();
  if (const auto previous = TRY(store::newest_document(world.db, document.project)))
    document.previous = previous->id;
  document.id = TRY(store::add_document(world.db, document));
  return document;
}

std::vector<Operation> document_operations() {
  const Argument kFrom =
      text("from", "the session that the request comes from, if it is known").in_requests();
  return {
      {.name = "save",
       .access = Access::write,
       .group = Group::memory,
       .summary = "save the state of a session as a document",
       .help =
           "With a text, a file or - (stdin) that text is the document; a text without headings becomes the "
           "summary of a draft. Without any, all of it is drafted from what the session did: requests, "
           "files, "
           "commits, decisions, what failed, what is open. The sections come from a template (`cairn docs "
           "template`). The document follows the newest one of the project and knows up to where it covers "
           "the transcript, so that `cairn resume` can add what happened since.",
       .scope = Scope::one,
       .arguments =
           {text("text", "the document, or its summary; - reads stdin").as("TEXT|FILE|-").rest_of_line(),
            path("file", "read it from this file").as("FILE").not_with("text"),
            text("title", "one line (default: what the session was about)").as("TITLE"),
            texts("tag", "a tag; may be given again").as("TAG"),
            choice("status", documents::kStatuses, "state of the work (default in-progress)"),
            session("session", "the session it is about (default: the last one at work)").as("ID"),
            path("to", "also write it to this file").as("PATH"), kFrom,
            written_by("who writes it (default person)")},
       .body = save},
      {.name = "docs.list",
       .group = Group::memory,
       .summary = "documents of this project, newest first",
       .help = "`cairn chain` shows which follows which.",
       .scope = Scope::any,
       .arguments = {text("tag", "only those with this tag").as("TAG"),
                     flag("trash", "those in the trash instead"),
                     integer("limit", 1, kMostRows, "at most N rows").otherwise(100)},
       .body = list_documents},
      {.name = "docs.show",
       .group = Group::memory,
       .summary = "a document, with its front matter",
       .help = "By its number (D12) or by the name that it was imported with; without one the newest.",
       .scope = Scope::one,
       .arguments = {document("id", "the document").word()},
       .body = show_document},
      {.name = "docs.lint",
       .group = Group::memory,
       .summary = "check a document or a file against the template",
       .help = "Names missing, unknown and empty sections and bad keys of the front matter. The exit code is "
               "1 when "
               "there are any.",
       .scope = Scope::one,
       .arguments = {named("target", "a document (D12, or its name), or the path of a file",
                           "what to check (default: the newest document)")
                         .as("ID|PATH")
                         .word()},
       .body = lint_document},
      {.name = "docs.diff",
       .group = Group::memory,
       .summary = "what changed between two documents, by section",
       .help = "With one document: between its predecessor and it.",
       .scope = Scope::one,
       .arguments = {document("id", "the document (default: the newest)").word(),
                     document("other", "the newer document that ID is compared with").as("OTHER").word()},
       .body = diff_documents},
      {.name = "docs.template",
       .group = Group::memory,
       .summary = "the template whose sections documents have",
       .help = "Save it as document.md beside config.toml and change it there: `cairn save` and `cairn docs "
               "lint` "
               "follow it.",
       .arguments = {},
       .body = show_template}};
}

}  // namespace cairn::ops
