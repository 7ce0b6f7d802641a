#include "archive/archiver.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "store/documents.h"
#include "store/lost.h"
#include "store/sessions.h"
#include "store/transcripts.h"

namespace cairn::archive {

using store::BackupCause;

// There are two lists of work, and at most one copy at a time. `requested_` works on rows of the store: a
// hook or a command asked for a backup. `swept_` has what a sweep of the known folders found: transcripts
// that changed without a hook. A request comes first: it interrupts a copy of the sweep, which then begins
// again.

static constexpr std::int64_t kSweepNs = 600'000'000'000;  // ten minutes
// A file that is still being written is copied later, but at most an hour later.
static constexpr Millis kAtRest = std::chrono::minutes(10);
static constexpr Millis kLongest = std::chrono::hours(1);
// Wait after a session's end: the host writes its last lines after the end hook.
static constexpr Millis kLastLines = std::chrono::seconds(60);
// Pause after the store could not be read or written.
static constexpr std::int64_t kPauseNs = 60'000'000'000;
static constexpr std::int64_t kMostDoublings = 6;  // up to about an hour

void Archiver::configure(gate::Gate gate, const Options& options) {
  gate_ = std::move(gate);
  options_ = options;
}

Status Archiver::look_again() {
  removals_due_ = true;
  const std::int64_t boot = clock_.boot_ns();
  if (last_sweep_ns_ != 0 && boot - last_sweep_ns_ < kSweepNs) return {};
  // 0 means never.
  last_sweep_ns_ = std::max<std::int64_t>(boot, 1);
  retention_due_ = true;
  if (!options_.enabled) return {};
  folders_.clear();
  for (const store::TranscriptFolder& folder : TRY(store::transcript_folders(db_)))
    folders_.emplace_back(folder.path, folder.platform);
  return {};
}

bool Archiver::step() {
  return guarded([this] {
    const bool going = requested_.copy || !requested_.jobs.empty() || requested_.request;
    return going ? go_on(requested_) : begin_request();
  });
}

bool Archiver::sweep_step() {
  return guarded([this] { return go_on_sweeping(); });
}

template <class Body>
bool Archiver::guarded(Body&& body) {
  if (clock_.boot_ns() < not_before_ns_) return false;
  auto more = body();
  if (more) return *more;
  log_.error("archive: " + more.error().message);
  // Dropping the work loses nothing: requests are rows of the store, and the next sweep finds the rest.
  requested_ = Work();
  swept_ = Work();
  not_before_ns_ = clock_.boot_ns() + kPauseNs;
  return false;
}

Result<bool> Archiver::begin_request() {
  const WallTime now = clock_.now();
  auto request = TRY(store::next_request(db_, now));
  if (!request) {
    // A wait that ends later than any we set means that the clock was set back: shorten it.
    TRY(store::clamp_requests(db_, now + 2 * kLongest));
    return false;
  }
  // Only one copy at a time: a copy that the sweep had begun is dropped and made again later.
  if (swept_.copy) {
    swept_.jobs.push_front(swept_.copy->job());
    swept_.copy.reset();
  }
  requested_.jobs = TRY(jobs_of(*request));
  requested_.request = std::move(request);
  return true;
}

// Subagents come first: their backups get lower numbers than the session's, which shows that they belong to
// it.
Result<std::deque<Copy::Job>> Archiver::jobs_of(const store::BackupRequest& request) {
  const host::Host& host = host::find_host(request.platform);
  const auto session = TRY(store::find_session(db_, request.platform, ContentId{request.session}));
  Status failed;
  std::deque<Copy::Job> jobs;
  // `failed` is not looked at: what could not be listed is found by a later sweep.
  for (const std::string& path : host.transcript_files(disk_, request.source_path, failed)) {
    Copy::Job job;
    const bool main = path == request.source_path;
    const auto file = host.transcript_file(path);
    job.key = {request.platform, request.session, file ? gate_.id(file->agent) : ""};
    job.path = path;
    job.project = session ? session->project : "";
    job.cause = request.cause;
    job.reason = request.reason;
    // Each end and each compaction of a session is a version, even when it added no line.
    job.even_if_unchanged = main && request.cause != BackupCause::sweep;
    main ? jobs.push_back(std::move(job)) : jobs.push_front(std::move(job));
  }
  return jobs;
}

Result<bool> Archiver::go_on(Work& work) {
  if (!work.copy) {
    if (work.jobs.empty()) {
      if (work.request) TRY(store::in_transaction(db_, [&] { return finish(*work.request); }));
      work.request.reset();
      return true;
    }
    Copy::Job job = std::move(work.jobs.front());
    work.jobs.pop_front();
    if (TRY(is_left_out(job))) return true;
    auto copy = Copy::open(db_, disk_, places_, gate_, job, options_.copy);
    if (!copy && copy.error().code == Code::not_found) return true;  // nothing was written, or it is gone
    if (!copy) {
      work.jobs.push_front(std::move(job));
      TRY(fail(work, copy.error()));
      return true;
    }
    work.copy = *std::move(copy);
    return true;
  }
  auto more = work.copy->step();
  if (more && *more) return true;
  // The file can fail to be read, and its rows to be written: both are tried again as a whole.
  Status done = more ? finish_copy(work) : Status(std::move(more).error());
  if (!done) {
    work.jobs.push_front(work.copy->job());
    work.copy.reset();
    TRY(fail(work, done.error()));
  }
  return true;
}

Result<std::optional<store::Backup>> Archiver::copy_now(const store::TranscriptKey& key,
                                                        const std::string& path, const std::string& project,
                                                        BackupCause cause) {
  // There is one temporary file: what is under way begins again afterwards.
  for (Work* work : {&requested_, &swept_})
    if (work->copy) {
      work->jobs.push_front(work->copy->job());
      work->copy.reset();
    }
  const Copy::Job job{key, path, project, cause, "", false};
  if (!path.empty() && options_.enabled && !TRY(is_left_out(job))) {
    auto copy = Copy::open(db_, disk_, places_, gate_, job, options_.copy);
    if (!copy && copy.error().code != Code::not_found) return std::move(copy).error();
    if (copy) {
      while (TRY((*copy)->step())) {
      }
      TRY(store::in_transaction(db_, [&]() -> Status {
        if (TRY((*copy)->register_backup(clock_.now()))) ++copied_;
        return {};
      }));
    }
  }
  return store::newest_backup(db_, key);
}

Status Archiver::finish_copy(Work& work) {
  std::optional<store::Backup> backup;
  TRY(store::in_transaction(db_, [&]() -> Status {
    backup = TRY(work.copy->register_backup(clock_.now()));
    // A copy that another tool made and had processed is not pending.
    if (backup && backup->cause == BackupCause::imported)
      TRY(store::set_discard(db_, backup->key, backup->id, clock_.now()));
    // In the transaction of the last file: a crash between two transactions would make a second version.
    if (work.request && work.jobs.empty()) TRY(finish(*work.request));
    return {};
  }));
  if (!work.copy->damage().empty())
    log_.error(fmt::format("backup damaged session={} {}: copied again", work.copy->job().key.session,
                           work.copy->damage()));
  work.copy.reset();
  if (work.jobs.empty()) work.request.reset();
  if (!backup) return {};
  ++copied_;
  log_.info(fmt::format("backup stored session={} version={} lines={} cause={}", backup->key.session,
                        backup->version, backup->lines, store::name_of(backup->cause)));
  return {};
}

Status Archiver::finish(const store::BackupRequest& request) {
  TRY(store::end_request(db_, request.id));
  if (request.cause != BackupCause::end) return {};
  store::BackupRequest last_lines = request;
  last_lines.cause = BackupCause::sweep;
  last_lines.not_before = clock_.now() + kLastLines;
  return store::request_backup(db_, last_lines);
}

// A copy that failed in the sweep becomes a request, so that it is reported and tried again like all others.
// The other files of a request are tried again with it: those that were copied have nothing new then.
Status Archiver::fail(Work& work, const Error& error) {
  const Copy::Job job = work.jobs.front();
  work.jobs.clear();
  work.copy.reset();
  const WallTime now = clock_.now();
  const std::int64_t attempts = work.request ? work.request->attempts : 0;
  const Millis wait = std::chrono::minutes(1) * (std::int64_t{1} << std::min(attempts, kMostDoublings));
  log_.error(fmt::format("backup failed session={} {}", job.key.session, error.message));
  const auto request = std::move(work.request);
  work.request.reset();
  return store::in_transaction(db_, [&]() -> Status {
    std::int64_t id = request ? request->id : 0;
    if (!request) {
      store::BackupRequest made{
          0, job.key.platform, job.key.session, job.path, BackupCause::sweep, "", now, now, 0, {}};
      id = TRY(store::request_once(db_, made));
    }
    return store::fail_request(db_, id, error.message, now + wait);
  });
}

// The directory of the first record that names one, and in `began` the time of the first record. Both are
// at the beginning of a transcript, so only that is read.
std::string Archiver::first_directory(const std::string& path, const host::Host& host, WallTime& began) {
  constexpr std::size_t kBeginning = 256u << 10;
  auto file = disk_.open(path, os::Open::read);
  if (!file) return {};
  std::string text(kBeginning, '\0');
  const auto got = (*file)->read_at(0, text.data(), text.size());
  if (!got) return {};
  text.resize(*got);
  std::string directory;
  for (const std::string_view line : split(text, '\n')) {
    const Json value = Json::parse_partial(line).value;
    if (!value.is_object()) continue;
    const host::TranscriptRecord record = host.read_record(value);
    if (record.at && began == WallTime()) began = *record.at;
    directory = record.cwd;
    if (!directory.empty()) break;
  }
  return directory;
}

Result<bool> Archiver::is_left_out(const Copy::Job& job) {
  const ContentId session{job.key.session};
  if (TRY(store::is_memory_id(db_, session))) return true;
  event::Event event;
  event.kind = event::Kind::session_start;
  event.session = session;
  event.host = job.key.platform;
  if (const auto known = TRY(store::find_session(db_, job.key.platform, session))) {
    event.cwd = known->cwd;
    return gate_.refuse(event).has_value();
  }
  // No hook reported this session: it is older than cairn, or capture was off.
  WallTime began;
  event.cwd = first_directory(job.path, host::find_host(job.key.platform), began);
  const auto stat = disk_.stat(job.path);
  const bool out = gate_.refuse(event).has_value() ||
                   (stat && began != WallTime() &&
                    TRY(store::capture_was_off(db_, began, from_epoch_ms(stat->modified_ns / 1'000'000))));
  // Remember the file as read, so that the sweep looks at it again only when it has changed.
  if (out && stat)
    TRY(store::in_transaction(db_, [&] { return store::note_source(db_, job.path, *stat, clock_.now()); }));
  return out;
}

Result<bool> Archiver::go_on_sweeping() {
  if (swept_.copy || !swept_.jobs.empty()) return go_on(swept_);
  if (removals_due_) {
    removals_due_ = false;
    if (TRY(remove_files(db_, disk_, places_.directory)) > 0) return true;
  }
  if (!folders_.empty()) {
    const auto [folder, platform] = folders_.front();
    folders_.pop_front();
    TRY(sweep_folder(folder, platform));
    return true;
  }
  if (!retention_due_) return false;
  retention_due_ = false;
  // This removes rows. The files are unlinked by the next step.
  const auto plan = TRY(plan_retention(db_, options_.keep, clock_.now()));
  if (plan.removed.empty()) return false;
  TRY(store::in_transaction(db_, [&] { return apply_retention(db_, plan); }));
  for (const store::SessionBackups& gone : plan.removed)
    log_.info(fmt::format("backups removed session={} versions={}", gone.newest.key.session, gone.versions));
  removals_due_ = true;
  return true;
}

Result<bool> Archiver::is_due(const std::string& path) {
  const auto stat = disk_.stat(path);
  if (!stat || stat->is_dir || stat->size == 0) return false;
  if (TRY(store::source_is_known(db_, path, *stat)) || TRY(store::is_requested(db_, path))) return false;
  const WallTime now = clock_.now();
  const auto read_at = TRY(store::source_read_at(db_, path));
  const WallTime written = from_epoch_ms(stat->modified_ns / 1'000'000);
  // The last condition: a time in the future (the clock was set back) would never count as at rest.
  return !read_at || now - written >= kAtRest || now - *read_at >= kLongest || written > now + kAtRest;
}

Status Archiver::sweep_folder(const std::string& folder, const std::string& platform) {
  const host::Host& host = host::find_host(platform);
  auto names = disk_.list(folder);
  if (!names) return {};  // the project or the host is gone
  std::sort(names->begin(), names->end());
  for (const std::string& name : *names) {
    const std::string main = folder + "/" + name;
    const auto file = host.transcript_file(main);
    if (!file || file->session.empty()) continue;
    store::BackupRequest request;
    request.platform = platform;
    request.session = gate_.id(file->session);
    request.source_path = main;
    request.cause = BackupCause::sweep;
    for (Copy::Job& job : TRY(jobs_of(request)))
      if (TRY(is_due(job.path))) swept_.jobs.push_back(std::move(job));
  }
  return {};
}

}  // namespace cairn::archive
