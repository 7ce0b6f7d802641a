// Transcripts that are to be imported, with the state of each.
//
// All within the caller's transaction, on the writer's connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

struct TranscriptToImport {
  std::string path;
  std::string platform;
  std::string session;  // the host's id
  std::int64_t bytes = 0;
  WallTime modified_at;
};

// `pending`: it is in the list and not read yet. `remembered`: its session is stored, or an earlier import
// handled the transcript.
enum class Known { no, pending, remembered };
Result<Known> known_as(Db& db, const TranscriptToImport& import);
Status add_import(Db& db, const TranscriptToImport& import, WallTime now);
// The newest in that state. A pending one whose copy for the archive is not made yet is passed over.
Result<std::optional<TranscriptToImport>> import_in(Db& db, ImportState state);
Status set_import(Db& db, const std::string& path, ImportState state, const std::string& reason = "");

struct ImportCount {
  ImportState state = ImportState::pending;
  std::string reason;  // of those that were left out
  std::int64_t sessions = 0, bytes = 0;
};
Result<std::vector<ImportCount>> count_imports(Db& db);

}  // namespace cairn::store
