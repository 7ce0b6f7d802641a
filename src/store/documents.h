// Documents: a description of a session, written by a person or drafted by cairn, and the part of its
// transcript that it covers.
//
// A document may follow another one, its predecessor. Documents of a project are ordered by their date, then
// by their number. Functions that write run in the caller's transaction, on the writer's connection; the text
// they are given has passed the gate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/archive.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

struct Document {
  std::int64_t id = 0;
  std::string uuid;  // empty: add_document() makes one
  std::string origin = "local";
  std::string platform;  // of its session; both are empty when it belongs to none
  std::string session;   // the host's id
  std::string project;
  std::optional<std::string> branch;
  std::string title;
  std::string status = "in-progress";  // completed, in-progress, blocked
  std::vector<std::string> tags;
  std::string body;                      // Markdown, without the front matter
  std::optional<std::int64_t> previous;  // its predecessor
  std::string previous_name;             // the predecessor's name, when that is not stored here
  std::optional<std::int64_t> backup;    // the version of the transcript that it covers
  Anchor anchor;                         // up to where it covers the transcript
  std::string name;                      // of an imported file: session-2026-01-15-2045.md
  DocumentSource source = DocumentSource::person;
  std::string head_commit;  // the commit that was checked out then; empty: not known
  WallTime created_at;
  std::optional<WallTime> updated_at;  // when it was last coalesced
  bool deleted = false;                // in the trash
};

// "D12"
std::string document_label(std::int64_t id);

// Returns its id. The predecessor is not checked.
Result<std::int64_t> add_document(Db& db, const Document& document);
// Writes title, status, tags, body, backup, anchor and updated_at. The earlier content is kept as a version.
Status update_document(Db& db, const Document& document, WallTime now);
// Undoes the last update_document(). `not_found` when there was none.
Status revert_document(Db& db, std::int64_t id);
// Sets the predecessor.
Status set_previous(Db& db, std::int64_t id, const std::optional<std::int64_t>& previous,
                    std::string_view previous_name);
// Moves it into the trash, or takes it out.
Status trash_document(Db& db, std::int64_t id, WallTime now);
Status restore_document(Db& db, std::int64_t id);
// Deletes it for good. Documents that follow it keep its name.
Status remove_document(Db& db, std::int64_t id);

// Also finds a document in the trash.
Result<std::optional<Document>> find_document(Db& db, std::int64_t id);
Result<std::optional<Document>> document_by_uuid(Db& db, std::string_view uuid);
// The documents with that name: D12, 12, or a file name with or without its directories and ".md". Not those
// in the trash. Newest first.
Result<std::vector<Document>> documents_named(Db& db, const std::optional<std::string>& project,
                                              std::string_view name);
// The newest by date, then by number.
Result<std::optional<Document>> newest_document(Db& db, const std::string& project);
Result<std::optional<Document>> newest_document_of(Db& db, const std::string& platform,
                                                   const std::string& session);

struct DocumentQuery {
  std::optional<std::string> project;  // none: of all
  std::optional<std::string> tag;      // in any case
  std::optional<std::string> session;  // the host's id
  bool trash = false;                  // those in the trash instead
  std::int64_t limit = 1'000'000;
};
// Newest first.
Result<std::vector<Document>> list_documents(Db& db, const DocumentQuery& query);
// The newest document that follows this one.
Result<std::optional<std::int64_t>> successor_of_document(Db& db, std::int64_t id);

// One action that `cairn undo` can undo.
struct UndoEntry {
  std::int64_t id = 0;
  std::string project;
  std::string what;    // fresh-start, coalesce, discard
  std::string detail;  // a JSON object
  WallTime at, expires_at;
};
Result<std::int64_t> add_undo(Db& db, const UndoEntry& entry);
// The newest of the project that is neither undone nor expired.
Result<std::optional<UndoEntry>> last_undo(Db& db, const std::string& project, WallTime now);
Status end_undo(Db& db, std::int64_t id, WallTime now);
// The actions that expired, oldest first, at most 100. The caller removes them with remove_undo().
Result<std::vector<UndoEntry>> expired_undos(Db& db, WallTime now);
Status remove_undo(Db& db, std::int64_t id);
// Sets up to which backup the session is discarded; none: not at all.
Status set_discard(Db& db, const TranscriptKey& session, const std::optional<std::int64_t>& backup,
                   WallTime now);
Result<std::optional<std::int64_t>> discarded_up_to(Db& db, const TranscriptKey& session);

}  // namespace cairn::store
