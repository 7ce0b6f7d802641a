// Documents: what a person, or the built-in draft, wrote down about a session, and which part of its
// transcript that covers.
//
// A document follows another one: its predecessor. Documents of a project are ordered by their date, then by
// their number. Functions that write run in the caller's transaction, on the writer's connection; the text
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
  std::string previous_name;             // as it was called, when it is not here
  std::optional<std::int64_t> backup;    // the version of the transcript that it covers
  Anchor anchor;                         // up to where it covers the transcript
  std::string name;                      // of an imported file: session-2026-01-15-2045.md
  std::string source = "person";         // person, agent, draft, import
  std::string head_commit;               // what was checked out then; empty: not known
  WallTime created_at;
  std::optional<WallTime> updated_at;  // when it was last coalesced
  bool deleted = false;                // in the trash
};

// "D12"
std::string document_label(std::int64_t id);

// Gives its number. Nothing about the predecessor is checked.
Result<std::int64_t> add_document(Db& db, const Document& document);
// Writes title, status, tags, body, backup, anchor and updated_at. What stood there becomes a version.
Status update_document(Db& db, const Document& document, WallTime now);
// Takes back the last update_document(). `not_found` when there was none.
Status revert_document(Db& db, std::int64_t id);
// Which document it follows.
Status set_previous(Db& db, std::int64_t id, const std::optional<std::int64_t>& previous,
                    std::string_view previous_name);
// Moves it into the trash, or takes it out.
Status trash_document(Db& db, std::int64_t id, WallTime now);
Status restore_document(Db& db, std::int64_t id);
// For good. Documents that follow it keep its name.
Status remove_document(Db& db, std::int64_t id);

// Also one in the trash.
Result<std::optional<Document>> find_document(Db& db, std::int64_t id);
Result<std::optional<Document>> document_by_uuid(Db& db, std::string_view uuid);
// Those that are called so: D12, 12, a name with or without its directories and ".md". Not those in the
// trash. Newest first.
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
Result<std::int64_t> count_documents(Db& db, const std::optional<std::string>& project);

// One entry of what `cairn undo` can take back.
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
// Those that expired; their rows are removed.
Result<std::vector<UndoEntry>> expired_undos(Db& db, WallTime now);
Status remove_undo(Db& db, std::int64_t id);
// Takes a discard back: up to `backup` instead, none when there was none.
Status set_discard(Db& db, const TranscriptKey& session, const std::optional<std::int64_t>& backup,
                   WallTime now);
Result<std::optional<std::int64_t>> discarded_up_to(Db& db, const TranscriptKey& session);

}  // namespace cairn::store
