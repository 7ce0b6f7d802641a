// What the start of a session needs besides summaries and documents: which instruction files the host
// loads, what is not summarised yet, and which documents are to be written without being asked.
//
// Functions that write run in the caller's transaction, on the writer's connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/archive.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

// The host loaded this file with instructions when the session started.
Status note_instruction_file(Db& db, SessionId session, std::string_view path);
// The files of the project's last session that reported any; in order.
Result<std::vector<std::string>> instruction_files(Db& db, const std::string& project);

// When the oldest turn began that is later than every summary of the project and has none itself; nothing
// when all are summarised. `except`: the session that asks.
Result<std::optional<WallTime>> oldest_unsummarised(Db& db, const std::string& project, SessionId except);

// A session that worked in a project after some time.
struct LaterWork {
  std::string session;  // content id
  WallTime first;       // when its first turn after that time began
};
// The sessions of the project with turns that began after `after`, the oldest work first, without `except`.
Result<std::vector<LaterWork>> worked_after(Db& db, const std::string& project, WallTime after,
                                            SessionId except, std::int64_t limit);

// The newest backup of a session of the project that is pending, other than the session `except` (a content
// id).
Result<std::optional<Backup>> newest_pending(Db& db, const std::string& project, std::string_view except);

// Whether the user was warned that the session's context is nearly full.
Result<bool> window_reported(Db& db, SessionId session);
Status set_window_reported(Db& db, SessionId session, bool reported);

// A session whose document is due.
struct DocumentJob {
  SessionId session;
  std::int64_t attempts = 0;
};
// One job a session: a later cause replaces an earlier one.
Status request_document(Db& db, SessionId session, DocumentCause cause, WallTime now);
Result<std::optional<DocumentJob>> next_document_job(Db& db, WallTime now);
// The attempt failed: the next one comes at `not_before`.
Status fail_document_job(Db& db, SessionId session, WallTime not_before);
Status end_document_job(Db& db, SessionId session);

}  // namespace cairn::store
