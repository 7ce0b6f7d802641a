// What the operations on documents share.
#pragma once

#include <string>
#include <vector>

#include "archive/delta.h"
#include "base/json.h"
#include "base/result.h"
#include "distil/distil.h"
#include "documents/resume.h"
#include "documents/template.h"
#include "ops/operation.h"
#include "store/documents.h"
#include "store/sessions.h"

namespace cairn::ops {

// The user's template, else the built-in one. Fails when the user's cannot be read or has no section.
Result<documents::Template> load_template(World& world);
std::string template_path(const hook::Home& home);

// The mode of the settings, else the built-in one.
distil::Mode mode_of(World& world);

// A document as the user names it; without a name the newest of the project. `not_found` says what to do.
Result<store::Document> document_named(World& world, const std::string& project, const std::string& name);

// Its keys in every result, without the text.
Result<Json> document_json(World& world, const store::Document& document);
// Front matter and body.
Result<std::string> document_text(World& world, const store::Document& document);

// The directory of a session's work: its worktree, else the project's.
Result<std::string> directory_of(World& world, const std::string& project,
                                 const std::optional<std::string>& worktree);

// The text after the gate: without private parts and secrets, also those that the session named before.
Result<std::string> clean_document(World& world, const std::string& session, const std::string& text);

// Copies the session's transcript now and gives its newest backup. A failure is an error only when there is
// no backup at all.
Result<std::optional<store::Backup>> copy_now(World& world, const store::Session& session);

// A document that is drafted from what the session did so far. It is not stored.
Result<store::Document> draft_document(World& world, const store::Session& session,
                                       const std::string& summary);
// Copies the session's transcript, then sets the document's session, branch, commit, backup and anchor.
Status add_place(World& world, const store::Session& session, store::Document& document);
// Stores a document that follows the newest one of its project; gives it with its number. In the caller's
// transaction.
Result<store::Document> store_document(World& world, store::Document document);

// A document with what a session that goes on from it needs.
struct ResumeRequest {
  std::string project;
  store::Document document;
  std::string age;     // how the text names the document's age; empty: as "2 h ago"
  std::string asking;  // content id of the session that asks; empty: none
  std::vector<std::string> sections;
  std::size_t max_bytes = 16'000;
  bool leave_out_since = false;  // what came after it in its session was discarded
};
// Reads the store, the archive and the working tree; changes nothing.
Result<documents::ResumeInput> resume_input(World& world, const ResumeRequest& request);

struct Coalesced {
  bool changed = false;  // false: nothing happened after the document
  std::int64_t records = 0;
  std::string anchor, backup;
  store::Document document;
};
// Brings a document up to date, in one transaction.
Result<Coalesced> coalesce_document(World& world, store::Document document);

}  // namespace cairn::ops
