// The ids that imported records had in the other tool, and the import jobs that are not finished.
//
// A record with an alias is not imported again, even after it was forgotten here. All functions run in the
// caller's transaction, on the writer's connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/records.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

struct Alias {
  std::string source;  // the tool
  std::string key;     // the same whenever the record is imported
  std::string kind;    // session, prompt, observation, summary, note, document
  std::string old_id;  // how the tool names it: 12, S3, P7
  std::optional<std::int64_t> row;
  std::string hash;  // of its text when it was imported; empty: it never changes
};

Result<std::optional<Alias>> find_alias(Db& db, const std::string& source, const std::string& key);
// Adds the alias, or updates row and hash of an existing one.
Status put_alias(Db& db, const Alias& alias);
// The record that had the id `old_id` in `source`; nothing when none was imported, or the alias is not of a
// record.
Result<std::optional<RecordId>> record_of_alias(Db& db, const std::string& source, const std::string& old_id);

enum class JobState { pending, done, failed };
template <>
inline constexpr auto kStateTexts<JobState> = std::to_array<std::string_view>({"pending", "done", "failed"});

struct ImportJob {
  std::int64_t id = 0;
  std::string source, path;
  JobState state = JobState::pending;
  std::string reason;    // why it failed
  std::string position;  // how far it is, in the importer's own format
  std::string report;    // JSON
  WallTime started_at;
};

Result<ImportJob> add_job(Db& db, const std::string& source, const std::string& path, WallTime now);
// The oldest pending job.
Result<std::optional<ImportJob>> pending_job(Db& db);
Result<std::optional<ImportJob>> pending_job(Db& db, const std::string& source, const std::string& path);
// For one that turned out to have nothing to do.
Status remove_job(Db& db, std::int64_t id);
Result<bool> is_pending_job(Db& db, std::int64_t id);
// The last job of each source and path, newest first.
Result<std::vector<ImportJob>> last_jobs(Db& db);
// Writes state, reason, position and report.
Status put_job(Db& db, const ImportJob& job, WallTime now);

}  // namespace cairn::store
