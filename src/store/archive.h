// Rows of the archive: verified versions of transcripts, the files they consist of, and what is still to be
// copied.
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
#include "os/disk.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

// Identifies a transcript. `agent`: the id of a subagent; empty: the session's own transcript.
struct TranscriptKey {
  std::string platform;
  std::string session;
  std::string agent;
  bool operator==(const TranscriptKey&) const = default;
};

struct BackupBase {
  std::int64_t id = 0;
  TranscriptKey key;
  std::int64_t ordinal = 1;
  std::string name;  // its files are NAME.1.zst, NAME.2.zst, ...
  bool is_redacted = true;
  std::string state;  // the redactor's state, to continue after the last line
};

struct BackupSegment {
  std::int64_t ordinal = 1;
  std::int64_t file_bytes = 0;
  std::string sha256;  // of the file
  std::int64_t bytes = 0, lines = 0;
  std::string frames;  // compressed:bytes:lines of each, with blanks between
};
// NAME.ORDINAL.zst
std::string segment_file(const std::string& base_name, std::int64_t ordinal);

struct Backup {
  std::int64_t id = 0;
  TranscriptKey key;
  std::int64_t version = 1;
  std::int64_t base = 0;
  std::int64_t segments = 0;
  std::string project;
  std::string source_path;
  BackupCause cause = BackupCause::sweep;
  std::string reason;  // the host's reason, any text
  std::int64_t source_bytes = 0;
  std::string source_sha256;
  std::int64_t bytes = 0;
  std::string sha256;
  std::int64_t lines = 0, malformed = 0;
  std::optional<std::int64_t> bad_line, bad_column;  // of the first malformed line
  std::int64_t rewritten = 0;                        // lines that the gate changed
  std::string last_uuid;
  std::optional<WallTime> last_record_at;
  WallTime created_at, verified_at;
};

Result<std::optional<Backup>> find_backup(Db& db, std::int64_t id);
Result<std::optional<Backup>> find_version(Db& db, const TranscriptKey& key, std::int64_t version);
Result<std::optional<Backup>> newest_backup(Db& db, const TranscriptKey& key);
// The newest backups of the session's subagents that were made before the backup with the number `before`.
Result<std::vector<Backup>> agents_before(Db& db, const Backup& main, std::int64_t before);
// Sessions that have backups and whose id begins with `start`; at most two.
Result<std::vector<TranscriptKey>> sessions_like(Db& db, std::string_view start);

struct BackupQuery {
  std::optional<std::string> project;
  std::optional<TranscriptKey> session;  // with its subagents
  bool agents = false;                   // subagents' too
  std::int64_t limit = 100;
};
// Newest first.
Result<std::vector<Backup>> list_backups(Db& db, const BackupQuery& query);
// The ids of all backups, in order.
Result<std::vector<std::int64_t>> backup_ids(Db& db);

Result<std::optional<BackupBase>> find_base(Db& db, std::int64_t id);
Result<std::optional<BackupBase>> newest_base(Db& db, const TranscriptKey& key);
// The first `count` segments.
Result<std::vector<BackupSegment>> segments_of(Db& db, std::int64_t base, std::int64_t count);

// Gives the backups of a session, made when it was unknown, the project that it has now.
Status name_project_of_backups(Db& db, const std::string& platform, const std::string& session);
// The backup was read and found whole.
Status set_verified(Db& db, std::int64_t id, WallTime now);

// Registers the version, with its base if that is new (id 0) and its segment if it has a new one. Returns the
// backup with its id and version.
Result<Backup> add_backup(Db& db, BackupBase base, const std::optional<BackupSegment>& segment,
                          Backup backup);

// Whether the file has the size and time that it had when it was last copied to its end.
Result<bool> source_is_known(Db& db, const std::string& path, const os::Stat& stat);
// When that was; nothing when it was never copied.
Result<std::optional<WallTime>> source_read_at(Db& db, const std::string& path);
Status note_source(Db& db, const std::string& path, const os::Stat& stat, WallTime now);

struct BackupRequest {
  std::int64_t id = 0;
  std::string platform, session, source_path;
  BackupCause cause = BackupCause::sweep;
  std::string reason;
  WallTime at;
  WallTime not_before;
  std::int64_t attempts = 0;
  std::optional<std::string> error;
};
Status request_backup(Db& db, const BackupRequest& request);
// The same, unless the file is requested already: then that request becomes due at the earlier of the two
// times. Returns the request's id.
Result<std::int64_t> request_once(Db& db, const BackupRequest& request);
Result<bool> is_requested(Db& db, const std::string& path);
// The oldest request that is due.
Result<std::optional<BackupRequest>> next_request(Db& db, WallTime now);
Status end_request(Db& db, std::int64_t id);
// The attempt failed: the next one comes at `not_before`.
Status fail_request(Db& db, std::int64_t id, std::string_view error, WallTime not_before);
// Shortens waits that end after `latest`: they were set before the clock was set back.
Status clamp_requests(Db& db, WallTime latest);
// The requests whose last attempt failed, and the number of requests that ever failed.
Result<std::vector<BackupRequest>> failed_requests(Db& db);
Result<std::int64_t> failures_so_far(Db& db);

// The place in a transcript up to which a document or a discard covers it.
struct Anchor {
  std::string uuid;
  std::optional<std::int64_t> lines;
  std::string sha256;  // of those lines as stored
  std::optional<WallTime> at;
  // How many of the lines come after the one with that uuid, and after the last one with a time; and how many
  // of those lines have that very time. Unknown for anchors of a backup alone.
  std::optional<std::int64_t> behind_uuid, behind_at, same_time;
};

// All backups of a session.
struct SessionBackups {
  Backup newest;
  std::int64_t versions = 0;
  std::int64_t file_bytes = 0;  // on disk, subagents' included
  bool pending = true;          // it has lines later than its last document or discard
};
// Newest first.
Result<std::vector<SessionBackups>> session_backups(Db& db);
Result<bool> is_pending(Db& db, const Backup& newest);
Status discard_backups(Db& db, const Backup& up_to, WallTime now);
// The document with that number that is not deleted, as an anchor in a transcript.
struct DocumentAnchor {
  TranscriptKey key;
  Anchor anchor;
};
Result<std::optional<DocumentAnchor>> document_anchor(Db& db, std::int64_t id);

// Removes all backups of a session, with its subagents'. Their files go to removals().
Status remove_session_backups(Db& db, const TranscriptKey& session);
// Removes the versions of a base that need one of its segments from `segment` on, and those segments.
Status remove_versions_from(Db& db, std::int64_t base, std::int64_t segment);
Result<std::vector<std::string>> removals(Db& db);
Status end_removal(Db& db, const std::string& file);

// A segment that was written again with other lines: with the hash and size of all text up to its end.
struct RewrittenSegment {
  BackupSegment segment;
  std::string sha256;
  std::int64_t bytes = 0;
};
// Gives the base new files named NAME.N.zst, computes its versions and the anchors of documents again; the
// old files go to removals().
Status replace_segments(Db& db, const BackupBase& base, const std::string& name,
                        const std::vector<RewrittenSegment>& segments);
// The base with the next id after `after`; nothing when there is none.
Result<std::optional<BackupBase>> next_base(Db& db, std::int64_t after);

// Every file that rows name, with its size.
struct ArchiveFile {
  std::string file;
  std::int64_t base = 0, segment = 0;
  std::int64_t bytes = 0;
};
Result<std::vector<ArchiveFile>> archive_files(Db& db);

struct ArchiveCounts {
  std::int64_t backups = 0, sessions = 0, bytes = 0;
};
Result<ArchiveCounts> archive_counts(Db& db);

// When hooks delivered nothing, as [from, until] in epoch ms.
Result<std::vector<std::pair<std::int64_t, std::int64_t>>> capture_pauses(Db& db);
// The host's ids of the prompts of a session that were wholly private.
Result<std::vector<std::string>> private_prompts(Db& db, std::string_view platform, std::string_view session);

}  // namespace cairn::store
