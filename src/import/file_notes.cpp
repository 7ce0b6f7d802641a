#include "import/file_notes.h"

#include "base/hash.h"
#include "base/text.h"
#include "event/origin.h"
#include "gate/private_text.h"
#include "store/aliases.h"
#include "store/identity.h"
#include "store/imported.h"
#include "store/observations.h"
#include "store/projects.h"
#include "store/sessions.h"

namespace cairn::importer {

static constexpr std::size_t kMostNote = 64u << 10;
static constexpr std::size_t kNoteTitle = 120;

// The hidden session that holds what was imported from a project's files.
static Result<MemoryId> holder_of(store::Db& db, const std::string& project, WallTime now) {
  const auto row = TRY(store::project_by_name(db, project));
  const ContentId content{"imported-notes-" + (row ? row->uuid : "")};
  auto session = TRY(store::find_session(db, "cairn", content));
  if (!session) {
    session = TRY(store::create_session(db, {"cairn", content, project, {}, {}, "", now}));
    TRY(store::end_session(db, session->id, "imported", now));
    TRY(store::hide_session(db, session->id));
  }
  return store::ensure_memory_id(db, session->id, now);
}

Result<FileChange> put_file_notes(store::Db& db, const gate::Gate& gate, const NoteFile& file,
                                  const std::vector<FileNote>& notes, WallTime now) {
  const auto clean = [&](const std::string& text) {
    return std::string(trim(labelled(visible(gate.clean(text, gate::Way::other_memory)))));
  };
  std::vector<store::Observation> list;
  std::string all;
  for (const FileNote& note : notes) {
    store::Observation o;
    o.type = "discovery";
    o.narrative = cut(clean(note.text), kMostNote);
    o.title = one_line(clean(note.title), kNoteTitle);
    if (o.title.empty()) o.title = one_line(o.narrative, kNoteTitle);
    if (gate::only_private(o.title) && gate::only_private(o.narrative)) continue;
    o.project = file.project;
    o.created_at = note.at;
    o.position = static_cast<std::int64_t>(list.size());
    all += std::to_string(o.title.size()) + o.title + o.narrative + "\n";
    list.push_back(std::move(o));
  }
  // All notes of a file are one batch: put_observations() replaces the earlier ones of the batch.
  const std::string batch = "file-" + content_hash(file.source + "\n" + file.project + "\n" + file.path);
  const std::string hash = content_hash(all);
  const auto known = TRY(store::find_alias(db, file.source, batch));
  // The hash is of the cleaned text, so a changed rule of the gate also counts as a change.
  if (known && known->hash == hash) return FileChange::same;
  TRY(store::put_observations(db, TRY(holder_of(db, file.project, now)), batch, list));
  if (file.given) TRY(store::add_notes_of_batch(db, batch));
  TRY(store::put_alias(db, {file.source, batch, "file", file.path, {}, hash}));
  return known ? FileChange::changed : FileChange::added;
}

}  // namespace cairn::importer
