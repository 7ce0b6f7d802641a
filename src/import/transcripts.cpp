#include "import/transcripts.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/host.h"
#include "store/archive.h"
#include "store/imports.h"
#include "store/retention.h"

namespace cairn::importer {

using store::ImportState;

// A transcript that was written to this recently may belong to a running session. Its hooks deliver it, or
// the next import finds it.
static constexpr Millis kMayGoOn = std::chrono::minutes(10);

Result<FoundTranscripts> find_transcripts(store::Db& db, os::Disk& disk, os::Clock& clock,
                                          const Places& places, bool dry_run) {
  FoundTranscripts found;
  const WallTime now = clock.now();
  auto transaction = TRY(store::Transaction::begin(db));
  for (const host::Host* host : host::hosts()) {
    if (!places.host.empty() && host->name() != places.host) continue;
    const std::vector<std::string> roots = places.folder.empty()
                                               ? host->transcript_roots(disk, places.configuration)
                                               : std::vector<std::string>{places.folder};
    for (const std::string& root : roots) {
      // A folder that the user named is looked at for every host, and listed once.
      if (std::find(found.folders.begin(), found.folders.end(), root) == found.folders.end())
        found.folders.push_back(root);
      for (const host::FoundTranscript& transcript : host->find_transcripts(disk, root)) {
        const store::TranscriptToImport import{transcript.path, std::string(host->name()), transcript.session,
                                               static_cast<std::int64_t>(transcript.bytes),
                                               transcript.modified_at};
        found.transcripts.insert(transcript.session);
        std::string reason = transcript.left_out;
        // A time in the future comes from another clock and says nothing.
        if (reason.empty() && now - import.modified_at < kMayGoOn && import.modified_at <= now)
          reason = "still being written";
        if (reason.empty() && places.is_forgotten && places.is_forgotten(import.platform, import.session))
          reason = "forgotten";
        const store::Known known = TRY(store::known_as(db, import));
        if (!reason.empty()) {
          ++found.left_out[reason];
        } else if (known != store::Known::no) {
          ++(known == store::Known::pending ? found.pending : found.known);
        } else {
          ++found.sessions;
          found.bytes += import.bytes;
          found.oldest = std::min(found.oldest.value_or(import.modified_at), import.modified_at);
          found.newest = std::max(found.newest.value_or(import.modified_at), import.modified_at);
          if (!dry_run) TRY(store::add_import(db, import, now));
        }
      }
    }
  }
  TRY(transaction.commit());
  return found;
}

Result<bool> TranscriptImport::step() {
  // step() is called when nothing is left to read, so the current transcript is done.
  if (const auto before = TRY(store::import_in(db_, ImportState::reading))) {
    TRY(store::set_import(db_, before->path, ImportState::done));
    log_.info(fmt::format("session imported session={} bytes={}", before->session, before->bytes));
    has_evidence_ = true;
  }
  // First the texts of the last transcript, so that the store does not grow with the number of imports.
  if (has_evidence_ && TRY(expire_texts())) return true;
  const auto next = TRY(store::import_in(db_, ImportState::pending));
  if (!next) return false;
  if (TRY(archive_first(*next))) return true;
  const std::string id = catch_up_.id_of(next->session);
  // In the transaction that makes the session: otherwise, after a crash, the session would count as one that
  // was remembered before the import.
  const std::string reason =
      TRY(catch_up_.import_session(next->path, next->platform, next->session, [&]() -> Status {
        TRY(store::name_project_of_backups(db_, next->platform, id));
        return store::set_import(db_, next->path, ImportState::reading);
      }));
  if (!reason.empty()) TRY(store::set_import(db_, next->path, ImportState::left_out, reason));
  return true;
}

// Removes the texts of imported events from the store: the archive has them.
Result<bool> TranscriptImport::expire_texts() {
  constexpr std::int64_t kAtOnce = 500;  // so that the transaction stays short
  std::int64_t removed = 0;
  TRY(store::in_transaction(db_, [&]() -> Status {
    removed = TRY(store::expire_imported(db_, kAtOnce));
    return {};
  }));
  has_evidence_ = removed > 0;
  return has_evidence_;
}

// A transcript that cannot be copied is not read either: the archive tries again, and the others come first.
Result<bool> TranscriptImport::archive_first(const store::TranscriptToImport& next) {
  const auto stat = disk_.stat(next.path);
  if (!stat || TRY(store::source_is_known(db_, next.path, *stat))) return false;
  // A path with a waiting request is not given by import_in(). This one was requested and its request is
  // over without a copy: the archive leaves it out.
  if (asked_ == next.path) return false;
  asked_ = next.path;
  const WallTime now = clock_.now();
  store::BackupRequest request;
  request.platform = next.platform;
  request.session = catch_up_.id_of(next.session);
  request.source_path = next.path;
  request.cause = store::BackupCause::imported;
  request.at = request.not_before = now;
  TRY(store::in_transaction(db_, [&]() -> Status {
    TRY(store::request_once(db_, request));
    return {};
  }));
  return true;
}

}  // namespace cairn::importer
