#include "forget/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "archive/passages.h"
#include "archive/redactor.h"
#include "archive/retention.h"
#include "base/text.h"
#include "forget/tombstones.h"
#include "host/host.h"
#include "store/audit.h"
#include "store/forget_rows.h"
#include "store/passages.h"
#include "store/scrub.h"

namespace cairn::forget {

// The phases, in this order:
// 1. rows: deletes what was selected.
// 2. texts, archive, files: removes the text from all that stays.
// 3. index, wal: removes the copies that SQLite still has, in its search indexes and in the log of changed
// pages.
// 4. prove_texts, prove_archive, prove_files: reads everything again. If something is found, the work
// begins again at 2.
// The phase and the position are stored with each step. A phase may repeat work after a crash: all of it
// can be done twice.

using Phase = store::ForgetPhase;

namespace {

constexpr std::int64_t kStepNs = 25'000'000;  // of reading and writing
constexpr std::int64_t kRetryNs = 1'000'000'000;
constexpr std::int64_t kRows = 100;  // a step
// None of these may run for ever: merges of the search indexes (a merge writes about 200 pages), waits for
// readers until the WAL can be emptied (up to 5 s each), and rounds of cleaning and proof (new events may
// bring the text again).
constexpr int kMostMerges = 2000, kMostWaits = 3, kMostRounds = 3;
constexpr int kLevel = 3;  // of zstd, the default of archive.level

archive::Places places_of(const std::string& home) {
  return {home + "/archive"};
}

}  // namespace

Result<std::int64_t> begin(store::Db& db, const std::string& key, const Selection& selection,
                           const std::vector<std::string>& fingerprints, WallTime now) {
  const std::int64_t id = TRY(store::add_forget(db, selection.way, now));
  // In the same transaction as the request: from here on the gate keeps the texts out, also while the job
  // still removes them.
  for (const gate::Tombstone& tombstone : selection.lasting)
    TRY(store::add_tombstone(db, row_of(tombstone), id, true, now));
  for (const gate::Tombstone& tombstone : selection.temporary)
    TRY(store::add_tombstone(db, row_of(tombstone), id, false, now));
  for (const store::RecordName& record : selection.records) TRY(store::add_target(db, id, record.text()));
  for (const SessionId session : selection.sessions)
    TRY(store::add_target(db, id, "session " + std::to_string(session.value)));
  for (const store::GoneEvent& event : selection.events) {
    TRY(store::add_target(db, id, "event " + std::to_string(event.seq)));
    // The archive knows a call by this id, not by the number of its event.
    if (!event.tool_use_id.empty()) TRY(store::add_target(db, id, "call " + event.tool_use_id));
  }
  if (selection.project) TRY(store::add_target(db, id, "project " + *selection.project));
  // A secret that the gate had removed left a marker with its fingerprint. The marker goes, too.
  for (const std::string& print : fingerprints) TRY(store::add_target(db, id, "print " + print));
  const Json detail = Json::object({{"forget", id},
                                    {"way", name_of(selection.way)},
                                    {"records", selection.records.size()},
                                    {"sessions", selection.sessions.size()}});
  std::string subject(name_of(selection.way));
  for (const store::RecordName& record : selection.records) subject += " " + record.text();
  TRY(store::add_audit(db, key, "forget", "person", subject, detail.dump(), now));
  return id;
}

std::function<bool()> Job::time_is_up() const {
  const std::int64_t until = clock_.boot_ns() + kStepNs;
  return [this, until] { return clock_.boot_ns() >= until; };
}

void Job::count(std::string_view what, std::int64_t more) {
  report_.set(std::string(what), report_[what].as_int() + more);
}

Status Job::save(const std::function<Status()>& also) {
  return store::in_transaction(db_, [&]() -> Status {
    if (also) TRY(also());
    forget_->report = report_.dump();
    return store::put_forget(db_, *forget_);
  });
}

Status Job::to_phase(Phase phase) {
  forget_->phase = phase;
  forget_->position.clear();
  return save();
}

Status Job::load(const store::Forget& forget) {
  forget_ = forget;
  if (forget_->phase == Phase::prove_files)
    forget_->position.clear();  // the position in these files is not saved: begin again
  report_ = Json::parse_partial(forget.report).value;
  if (!report_.is_object()) report_ = Json::object();
  // Of an earlier attempt: the next save() drops it.
  std::erase_if(report_.mutable_members(), [](const Json::Member& one) { return one.first == "error"; });
  forgotten_ = TRY(load_forgotten(db_, key_, forget.id));
  calls_.clear();
  markers_.clear();
  const std::size_t all = std::numeric_limits<std::int32_t>::max();
  for (const std::string& call : TRY(store::targets(db_, forget.id, "call ", all)))
    calls_.insert(call.substr(5));
  for (const std::string& print : TRY(store::targets(db_, forget.id, "print ", all)))
    markers_.push_back(":" + print.substr(6) + "]");
  rewriter_.reset();
  reader_.reset();
  unproved_.clear();
  merges_ = wal_waits_ = 0;
  return {};
}

// Whether nothing that is to be forgotten is in the text.
bool Job::is_gone(std::string_view text) const {
  return forgotten_.find(text).empty() &&
         std::none_of(markers_.begin(), markers_.end(),
                      [&](const std::string& marker) { return text.find(marker) != std::string_view::npos; });
}

// Removes the whole marker, [secret:KIND:FINGERPRINT]; `markers` has only the ends.
static void remove_markers(std::string& text, const std::vector<std::string>& markers) {
  for (const std::string& marker : markers)
    for (std::size_t end; (end = text.find(marker)) != std::string::npos;) {
      const std::size_t begin = text.rfind("[secret:", end);
      // A marker that was cut at its beginning has only its end.
      const std::size_t from = begin == std::string::npos ? end : begin;
      text.replace(from, end + marker.size() - from, gate::kForgottenText);
    }
}

std::optional<store::Changed> Job::change(std::string_view text) const {
  if (is_gone(text)) return std::nullopt;
  store::Changed changed;
  changed.text = text;
  const auto remove = [&](std::string& part) {
    forgotten_.remove(part);
    remove_markers(part, markers_);
  };
  // In JSON each string for itself, so that it stays JSON.
  if (text.starts_with('{') || text.starts_with('[')) {
    Json::Parsed parsed = Json::parse_partial(text);
    if (parsed.complete && !parsed.limited) {
      parsed.value.for_each_string(remove);
      changed.text = parsed.value.dump();
    }
  }
  // Plain text, or JSON with the text in a key or across two strings. Removing it matters more than valid
  // JSON.
  if (!is_gone(changed.text)) remove(changed.text);
  // A row of which only the marks are left is deleted.
  std::string rest = changed.text;
  for (std::size_t at; (at = rest.find(gate::kForgottenText)) != std::string::npos;)
    rest.erase(at, gate::kForgottenText.size());
  changed.left = !squeezed(rest).empty();
  return changed;
}

// Adds the error to the saved report, where forget.status finds it. Everything else stays as it was saved.
Status Job::report_error(const std::string& message) {
  auto saved = TRY(store::find_forget(db_, forget_->id));
  if (!saved) return {};
  Json report = Json::parse_partial(saved->report).value;
  saved->report = report.set("error", message).dump();
  return store::in_transaction(db_, [&] { return store::put_forget(db_, *saved); });
}

Result<bool> Job::step() {
  if (!due_ || clock_.boot_ns() < not_before_ns_) return false;
  if (!forget_) {
    const auto next = TRY(store::pending_forget(db_));
    if (!next) {
      due_ = false;
      return false;
    }
    TRY(load(*next));
  }
  auto worked = work();
  if (!worked) {
    // The disk may be full, or a reader may use the WAL: try again from the last saved position.
    log_.error("forget: " + worked.error().message);
    ignore(report_error(worked.error().message));  // on a full disk it may fail too
    forget_.reset();
    rewriter_.reset();
    not_before_ns_ = clock_.boot_ns() + kRetryNs;
    return false;
  }
  return worked;
}

Result<bool> Job::work() {
  switch (forget_->phase) {
    case Phase::rows: return rows();
    case Phase::texts: return scrub(false);
    case Phase::archive: return archive(false);
    case Phase::files: return files();
    case Phase::index: return index();
    case Phase::wal: return wal();
    case Phase::prove_texts: return scrub(true);
    case Phase::prove_archive: return archive(true);
    case Phase::prove_files: return prove_files();
    case Phase::report:
    case Phase::done: break;
  }
  TRY(finish());
  return true;
}

// Writes a tombstone for a record that was deleted with another one, so that no import brings it back.
Status Job::keep_out(const std::string& uuid) {
  return store::add_tombstone(db_, row_of(forgotten_.of_record(uuid)), forget_->id, true, clock_.now());
}

Result<bool> Job::rows() {
  bool more = false;
  TRY(store::in_transaction(db_, [&]() -> Status {
    std::vector<std::string> left;
    // The first letter of the names of records. Records go before events, and these before sessions.
    for (const char* start : {"A", "D", "O", "P", "S", "T", "W", "event ", "session "})
      if (left.empty()) left = TRY(store::targets(db_, forget_->id, start, kRows));
    for (const std::string& target : left) {
      more = true;
      if (target.starts_with("session ")) {
        const SessionId session{std::stoll(target.substr(8))};
        // More of it is left: the target stays, and the next step goes on.
        if (TRY(store::delete_session_piece(db_, session, kRows))) break;
        count("sessions", 1);
      } else if (target.starts_with("event ")) {
        // Observations without another source are deleted with it.
        for (const std::string& uuid : TRY(store::delete_event(db_, std::stoll(target.substr(6)))))
          TRY(keep_out(uuid));
        count("events", 1);
      } else if (const auto record = store::read_record_name(target)) {
        TRY(store::delete_record(db_, *record));
        count("records", 1);
      }
      TRY(store::end_target(db_, forget_->id, target));
    }
    if (!more) {
      for (const std::string& target : TRY(store::targets(db_, forget_->id, "project ", 1)))
        if (TRY(store::delete_empty_project(db_, target.substr(8)))) count("projects", 1);
      TRY(store::drop_orphans(db_));
      forget_->phase = Phase::texts;
    }
    forget_->report = report_.dump();
    return store::put_forget(db_, *forget_);
  }));
  return true;
}

Result<bool> Job::scrub(bool only_look) {
  const store::ScrubStep step = TRY(store::scrub_rows(
      db_, forget_->position, [&](std::string_view text) { return change(text); }, only_look, time_is_up(),
      [&](const std::string& uuid) { return keep_out(uuid); }));
  count(only_look ? "texts_proved" : "texts_read", step.texts);
  count(only_look ? "texts_left" : "texts_changed", step.found);
  forget_->position = step.position;
  if (!step.position.empty()) {
    TRY(save());
    return true;
  }
  TRY(to_phase(only_look ? Phase::prove_archive : Phase::archive));
  return true;
}

Result<bool> Job::begin_base(bool only_look) {
  const std::int64_t after = forget_->position.empty() ? 0 : std::stoll(forget_->position);
  const auto base = TRY(store::next_base(db_, after));
  if (!base) {
    // The old files must be gone before the proof reads the home.
    if (!only_look) TRY(archive::remove_files(db_, disk_, home_ + "/archive"));
    TRY(to_phase(only_look ? Phase::prove_files : Phase::files));
    return false;
  }
  if (only_look) {
    reader_.emplace(disk_, home_ + "/archive", base->name,
                    TRY(store::segments_of(db_, base->id, std::numeric_limits<std::int64_t>::max())));
    reader_base_ = base->id;
    return true;
  }
  const host::Host& host = host::find_host(base->key.platform);
  rewriter_ = TRY(archive::Rewriter::open(db_, disk_, places_of(home_), *base, std::to_string(forget_->id),
                                          kLevel, [this, &host](std::string_view line, std::string& out) {
                                            const bool changed =
                                                archive::forget_in_line(line, forgotten_, calls_, host, out);
                                            if (!changed) out = line;
                                            // A marker and what replaces it never have the same size.
                                            const std::size_t before = out.size();
                                            remove_markers(out, markers_);
                                            return changed || out.size() != before;
                                          }));
  return true;
}

Result<bool> Job::end_base() {
  const std::int64_t base = rewriter_->base().id;
  const std::set<std::int64_t> lines = rewriter_->changed_lines();
  // A damaged file cannot be rewritten. It is counted, so that the report does not claim too much.
  if (!rewriter_->fault().empty()) {
    count("damaged_backups", 1);
    rewriter_->discard();
  } else if (rewriter_->changed() == 0) {
    rewriter_->discard();
  } else {
    forget_->position = std::to_string(base);
    // One transaction: after a crash neither the base is rewritten again, nor has the search index words of
    // lines that are gone.
    auto done = save([&]() -> Status {
      TRY(rewriter_->commit());
      TRY(index_passages(base, lines));
      count("archive_lines", static_cast<std::int64_t>(lines.size()));
      return {};
    });
    if (!done && done.error().code == Code::busy) {  // the backup grew meanwhile: rewrite it again
      rewriter_->discard();
      rewriter_.reset();
      forget_->position = std::to_string(base - 1);
      return true;
    }
    TRY(std::move(done));
    rewriter_.reset();
    return true;
  }
  rewriter_.reset();
  forget_->position = std::to_string(base);
  TRY(save());
  return true;
}

// Indexes the passages that have one of the lines again, from the text that the archive has for them.
Status Job::index_passages(std::int64_t base, const std::set<std::int64_t>& lines) {
  std::set<std::int64_t> passages;
  for (const std::int64_t line : lines)
    for (const std::int64_t id : TRY(store::passages_with(db_, base, line, line))) passages.insert(id);
  for (const std::int64_t id : passages) {
    const auto passage = TRY(store::find_passage(db_, id));
    if (!passage) continue;
    const auto text = TRY(archive::passage_text(db_, disk_, home_ + "/archive", *passage));
    TRY(store::reindex_passage(db_, id, text.text));
  }
  return {};
}

Result<bool> Job::read_frames() {
  archive::FrameText frame;
  const auto enough = time_is_up();
  while (reader_->next(frame)) {
    count("frames_proved", 1);
    for (const std::string_view line : split(frame.text, '\n'))
      if (!is_gone(line)) count("archive_left", 1);
    if (enough()) return true;
  }
  reader_.reset();
  forget_->position = std::to_string(reader_base_);
  TRY(save());
  return true;
}

Result<bool> Job::archive(bool only_look) {
  if (reader_) return read_frames();
  if (!rewriter_) {
    TRY(begin_base(only_look));
    return true;
  }
  const auto enough = time_is_up();
  while (TRY(rewriter_->step()))
    if (enough()) return true;
  return end_base();
}

Result<bool> Job::index() {
  bool more = false;
  TRY(store::in_transaction(db_, [&]() -> Status {
    more = TRY(store::merge_indexes(db_));
    return {};
  }));
  if (more && ++merges_ < kMostMerges) return true;
  TRY(to_phase(Phase::wal));
  return true;
}

// Pages that were freed are zeroed by SQLite; copies of the old ones are in the WAL until it is emptied.
Result<bool> Job::wal() {
  if (auto emptied = db_.checkpoint(true); !emptied) {
    if (++wal_waits_ < kMostWaits) return true;  // it waited for readers already
    report_.set("wal", "the database was being read");
  }
  TRY(to_phase(Phase::prove_texts));
  return true;
}

// When the proof found something (new events may have come meanwhile), the texts are cleaned once more.
Status Job::finish() {
  const std::int64_t left =
      report_["texts_left"].as_int() + report_["archive_left"].as_int() + report_["files_left"].as_int();
  if (left > 0 && report_["rounds"].as_int() < kMostRounds) {
    count("rounds", 1);
    for (const char* key : {"texts_left", "archive_left", "files_left"}) report_.set(key, 0);
    return to_phase(Phase::texts);
  }
  report_.set("left", left);
  forget_->ended_at = clock_.now();
  forget_->phase = Phase::done;
  forget_->position.clear();
  TRY(save([&]() -> Status {
    // Only now: the proof needs them too.
    changed_ = TRY(store::drop_temporary_tombstones(db_, forget_->id)) > 0 || changed_;
    for (const char* start : {"call ", "print ", "project "})
      for (const std::string& target :
           TRY(store::targets(db_, forget_->id, start, std::numeric_limits<std::int32_t>::max())))
        TRY(store::end_target(db_, forget_->id, target));
    const Json detail = Json::object({{"forget", forget_->id}, {"left", left}});
    return store::add_audit(db_, key_, "forgotten", "cairn", std::to_string(forget_->id), detail.dump(),
                            clock_.now());
  }));
  // The last rows may have left names of targets in the WAL: empty it. If a reader is in the way, a later
  // checkpoint does it.
  ignore(db_.checkpoint(true));
  forget_.reset();
  return {};
}

}  // namespace cairn::forget
