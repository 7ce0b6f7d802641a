#include "ops/automation.h"

#include "base/text.h"
#include "documents/advice.h"
#include "documents/chain.h"
#include "documents/material.h"
#include "ops/documents.h"
#include "store/documents.h"

namespace cairn::ops {

namespace {

// A single question without changes needs no document.
bool is_worth_a_document(const documents::Material& material) {
  return material.has_work() || material.turns > 1;
}

// Drafts and stores the session's first document. Copying the transcript (add_place) may take long, so it
// comes before the transaction; the document and the end of its job are one, so that a crash repeats both or
// none.
Status draft(World& world, const store::Session& session) {
  const documents::Material material = TRY(documents::material_of(world.db, session, mode_of(world)));
  if (!is_worth_a_document(material))
    return store::in_transaction(world.db, [&] { return store::end_document_job(world.db, session.id); });
  store::Document document = TRY(draft_document(world, session, ""));
  TRY(add_place(world, session, document));
  return store::in_transaction(world.db, [&]() -> Status {
    TRY(store_document(world, document));
    return store::end_document_job(world.db, session.id);
  });
}

// "## Open" becomes "Open:": in the context, headings are those of cairn's own sections. Blank lines after
// a heading are dropped.
std::string without_headings(std::string_view text) {
  std::string out;
  bool was_heading = false;
  for (std::string_view line : lines(text)) {
    const bool heading = line.starts_with('#');
    while (heading && line.starts_with('#')) line.remove_prefix(1);
    if (!was_heading || !trim(line).empty())
      out.append(heading ? trim(line) : line).append(heading ? ":\n" : "\n");
    was_heading = heading;
  }
  return std::string(trim(out));
}

}  // namespace

Status keep_document(World& world, const store::DocumentJob& job) {
  const auto session = TRY(store::find_session(world.db, job.session));
  const auto end = [&] {
    return store::in_transaction(world.db, [&] { return store::end_document_job(world.db, job.session); });
  };
  // Without a prompt there is nothing to write about.
  if (!session || session->prompt_count == 0) return end();
  const auto document =
      TRY(store::newest_document_of(world.db, session->platform, session->content_id.value));
  if (!document) return draft(world, *session);
  auto done = coalesce_document(world, *document);
  // Its transcript is gone or was never archived: there is nothing to add from.
  if (!done && done.error().code != Code::not_found) return std::move(done).error();
  return end();
}

Result<std::optional<StartingDocument>> document_to_start_from(World& world, const store::Session& asking,
                                                               std::size_t max_bytes) {
  const std::optional<StartingDocument> nothing;
  const auto document = TRY(store::newest_document(world.db, asking.project));
  if (!document || max_bytes == 0) return nothing;
  ResumeRequest request;
  request.project = asking.project;
  request.document = *document;
  request.asking = asking.content_id.value;
  request.max_bytes = max_bytes;
  // An absolute time: the same store must give the same context, whenever it is asked for (decision 7).
  request.age = "of " + iso8601(document->created_at).substr(0, 16) + "Z";
  const Millis stale = std::chrono::hours(world.settings.integer("context.stale_hours"));
  StartingDocument out;
  out.id = store::document_label(document->id);
  documents::ResumeInput input = TRY(resume_input(world, request));
  input.in_context = true;
  out.text = without_headings(documents::resume(input).text);
  out.is_behind = TRY(documents::is_behind(world.db, *document, asking.id, world.clock.now(), stale));
  return std::optional(std::move(out));
}

}  // namespace cairn::ops
