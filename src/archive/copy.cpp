#include "archive/copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/text.h"
#include "os/path.h"
#include "store/session_secrets.h"

namespace cairn::archive {

// A copy has three phases.
// 1. prefix: hashes the beginning of the transcript. If it is what the last version copied, only the lines
// after it are new. Otherwise the whole transcript becomes a new base.
// 2. lines: each complete line passes the redactor and is added to one new file under a temporary name.
// 3. verify: the file gets its final name. Then all files of the version are read back and hashed.
// register_backup() adds the rows.

// HASH-ORDINAL. The same for every attempt, so that an attempt after a crash replaces what the crash left.
static std::string base_name(const store::TranscriptKey& key, std::int64_t ordinal) {
  const std::string whose = key.platform + '\0' + key.session + '\0' + key.agent;
  return fmt::format("{}-{}", content_hash(whose), ordinal);
}

Copy::Copy(store::Db& db, os::Disk& disk, const Places& places, const gate::Gate& gate, Job job,
           const Options& options)
    : db_(db),
      disk_(disk),
      places_(places),
      gate_(gate),
      host_(host::find_host(job.key.platform)),
      job_(std::move(job)),
      options_(options) {}

Result<std::unique_ptr<Copy>> Copy::open(store::Db& db, os::Disk& disk, const Places& places,
                                         const gate::Gate& gate, Job job, const Options& options) {
  std::unique_ptr<Copy> copy(new Copy(db, disk, places, gate, std::move(job), options));
  TRY(copy->begin());
  return copy;
}

Status Copy::begin() {
  stat_ = TRY(disk_.stat(job_.path));
  if (stat_.is_dir) return Error{Code::invalid, job_.path + " is a directory"};
  source_ = TRY(disk_.open(job_.path, os::Open::read));
  limit_ = TRY(source_->size());
  if (!disk_.stat(places_.temporary())) {
    TRY(os::make_dirs(disk_, places_.temporary()));
    // The names of the new directories must survive a power cut: a registered file is in them.
    for (const std::string& directory : {os::above(places_.directory), places_.directory})
      TRY(disk_.sync_dir(directory));
  }
  const auto base = TRY(store::newest_base(db_, job_.key));
  if (base) next_ordinal_ = base->ordinal + 1;
  // A base never has both redacted and unredacted lines: after a change of the setting a new one begins.
  if (base && base->is_redacted == options_.redact) {
    last_ = TRY(store::newest_backup(db_, job_.key));
    if (last_ && last_->base == base->id)
      base_ = *base;
    else
      last_.reset();
  }
  return last_ ? Status() : start_base();
}

// Begins a new base, which holds the whole transcript.
Status Copy::start_base() {
  last_.reset();
  base_ = {0, job_.key, next_ordinal_, base_name(job_.key, next_ordinal_), options_.redact, ""};
  ++next_ordinal_;
  at_ = 0;
  source_hash_ = Sha256();
  return start_lines();
}

Status Copy::start_lines() {
  phase_ = Phase::lines;
  buffer_.clear();
  looked_ = skipped_ = 0;
  writer_.reset();
  segment_.reset();
  backup_ = last_.value_or(store::Backup{});
  backup_.id = 0;
  backup_.source_bytes = static_cast<std::int64_t>(at_);
  backup_.key = job_.key;
  backup_.project = job_.project;
  backup_.source_path = gate_.clean(job_.path, gate::Way::archive);
  backup_.cause = job_.cause;
  backup_.reason = job_.reason;
  redactor_.reset();
  if (!options_.redact) return {};
  Redactor::Rules rules;
  rules.pauses = TRY(store::capture_pauses(db_));
  for (std::string& id : TRY(store::private_prompts(db_, job_.key.platform, job_.key.session)))
    rules.private_prompts.insert(std::move(id));
  for (const store::SessionSecret& secret : TRY(store::session_secrets(db_, job_.key.session)))
    rules.known.add({secret.hash, secret.start, secret.length});
  redactor_.emplace(gate_, host_, std::move(rules), base_.state);
  return {};
}

Result<bool> Copy::step() {
  switch (phase_) {
    case Phase::prefix: return step_prefix();
    case Phase::lines: return step_lines();
    case Phase::verify: return step_verify();
    case Phase::done: break;
  }
  return false;
}

// Checks whether the file still begins with the bytes that were copied last. A file that was restored from
// the archive begins with the stored (redacted) text instead.
Result<bool> Copy::step_prefix() {
  struct Known {
    std::uint64_t bytes;
    const std::string* sha256;
  };
  // One pass tests both: it stops at the shorter length, compares, and reads on to the longer one.
  std::array known = {Known{static_cast<std::uint64_t>(last_->source_bytes), &last_->source_sha256},
                      Known{static_cast<std::uint64_t>(last_->bytes), &last_->sha256}};
  std::sort(known.begin(), known.end(), [](const Known& a, const Known& b) { return a.bytes < b.bytes; });
  const auto next = std::find_if(known.begin(), known.end(),
                                 [&](const Known& k) { return k.bytes > at_ || (at_ == 0 && k.bytes == 0); });
  if (next == known.end() || next->bytes > limit_) {
    TRY(start_base());
    return true;
  }
  std::string block(std::min<std::uint64_t>(next->bytes - at_, 4 * kStepBytes), '\0');
  const std::size_t got = TRY(source_->read_at(at_, block.data(), block.size()));
  if (got == 0) {
    TRY(start_base());
    return true;
  }
  source_hash_.add(std::string_view(block).substr(0, got));
  at_ += got;
  for (const Known& k : known)
    if (k.bytes == at_ && source_hash_.hex() == *k.sha256) {
      TRY(start_lines());
      break;
    }
  return true;
}

Result<bool> Copy::step_lines() {
  std::string block(std::min<std::uint64_t>(limit_ - at_, kStepBytes), '\0');
  const std::size_t got = block.empty() ? 0 : TRY(source_->read_at(at_, block.data(), block.size()));
  // Bytes read since the last line end. What remains of them when the file ends is an unfinished line: the
  // next copy reads it again from its beginning.
  const std::uint64_t unended = skipped_ + buffer_.size();
  const bool is_hole = unended > kMaxLine && block.find_first_not_of('\0') == std::string::npos;
  if (got == 0 || is_hole || unended > kLongestLine) {
    TRY(end_lines());
    return true;
  }
  at_ += got;
  buffer_.append(block, 0, got);
  std::size_t begin = 0;
  for (std::size_t feed; (feed = buffer_.find('\n', std::max(begin, looked_))) != std::string::npos;
       begin = feed + 1) {
    const std::string_view line = std::string_view(buffer_).substr(begin, feed - begin);
    if (skipped_ > 0) {
      skipping_hash_.add(std::string_view(buffer_).substr(begin, feed + 1 - begin));
      source_hash_ = skipping_hash_;
      skipped_ += line.size();
      TRY(skip_line());
    } else {
      source_hash_.add(std::string_view(buffer_).substr(begin, feed + 1 - begin));
      TRY(take_line(line));
    }
    backup_.source_bytes = static_cast<std::int64_t>(at_ - (buffer_.size() - feed - 1));
  }
  buffer_.erase(0, begin);
  // Drop the beginning of a line that is too long. It may never end: source_hash_ stays at the last line
  // end, and skipping_hash_ replaces it only when a line feed comes.
  if (skipped_ > 0 || buffer_.size() > kMaxLine) {
    if (skipped_ == 0) skipping_hash_ = source_hash_;
    skipping_hash_.add(buffer_);
    skipped_ += buffer_.size();
    buffer_.clear();
  }
  looked_ = buffer_.size();
  return true;
}

Status Copy::take_line(std::string_view line) {
  if (!writer_)
    writer_.emplace(TRY(
        SegmentWriter::create(disk_, places_.temporary() + "/" + std::string(kTemporary), options_.level)));
  ++backup_.lines;
  // A line that is not a record is counted and stored all the same: the copy must have every line.
  if (const auto fault = line_fault(line)) {
    ++backup_.malformed;
    if (!backup_.bad_line) {
      backup_.bad_line = backup_.lines;
      backup_.bad_column = static_cast<std::int64_t>(fault->column);
    }
  }
  std::string clean;
  if (!redactor_ || !redactor_->pass(line, clean)) return writer_->add_line(line);
  ++backup_.rewritten;
  return writer_->add_line(clean);
}

// Writes a marker for a line that is too long for the gate and for any host. Later lines keep their numbers.
Status Copy::skip_line() {
  const std::string marker =
      Json::object({{"type", "cairn-left-out"}, {"bytes", static_cast<std::int64_t>(skipped_)}}).dump();
  skipped_ = 0;
  TRY(take_line(marker));
  ++backup_.rewritten;
  return {};
}

// All that a repair needs to make the rows of this version again. seal() adds what is known about the file.
Json Copy::about() const {
  const store::TranscriptKey& key = job_.key;
  return Json::object({{"platform", key.platform},
                       {"session", key.session},
                       {"agent", key.agent},
                       {"base", base_.ordinal},
                       {"redacted", options_.redact},
                       {"state", base_.state},
                       {"project", backup_.project},
                       {"source_path", backup_.source_path},
                       {"cause", store::name_of(backup_.cause)},
                       {"reason", backup_.reason},
                       {"source_bytes", backup_.source_bytes},
                       {"source_sha256", backup_.source_sha256},
                       {"lines", backup_.lines},
                       {"malformed", backup_.malformed},
                       {"bad_line", backup_.bad_line ? Json(*backup_.bad_line) : Json()},
                       {"bad_column", backup_.bad_column ? Json(*backup_.bad_column) : Json()},
                       {"rewritten", backup_.rewritten}});
}

// The file gets its final name before it is read back, so that the check covers the name too. No row has it
// yet.
Status Copy::end_lines() {
  source_.reset();
  phase_ = Phase::done;
  if (redactor_) base_.state = redactor_->state();
  backup_.source_sha256 = source_hash_.hex();
  if (writer_) {
    // The trailer has the state and the hash that were set above: a repair reads them from there.
    const std::int64_t ordinal = last_ ? last_->segments + 1 : 1;
    segment_ = TRY(writer_->seal(ordinal, about()));
    new_hash_ = Sha256();
    backup_.segments = ordinal;
    backup_.bytes += segment_->bytes;
    TRY(writer_->move_to(places_.directory + "/" + store::segment_file(base_.name, ordinal)));
  } else if (!last_ || !job_.even_if_unchanged) {
    return {};  // nothing new: without a reader_ register_backup() adds no version
  }
  std::vector<store::BackupSegment> segments;
  if (last_) segments = TRY(store::segments_of(db_, last_->base, last_->segments));
  if (segment_) segments.push_back(*segment_);
  reader_.emplace(disk_, places_.directory, base_.name, std::move(segments));
  stored_hash_ = Sha256();
  read_back_ = 0;
  phase_ = Phase::verify;
  return {};
}

// False: an earlier version is damaged.
Result<bool> Copy::check_frame(const FrameText& frame) {
  const bool old = last_ && frame.segment <= last_->segments;
  if (frame.fault && !old) return Error{Code::corrupt, "read back: " + *frame.fault};
  if (frame.fault) {
    damage_ = *frame.fault;
    return false;
  }
  read_back_ += static_cast<std::int64_t>(frame.text.size());
  stored_hash_.add(frame.text);
  if (!old) new_hash_.add(frame.text);
  // A version ends where its last file ends, so some frame ends exactly there.
  if (old && read_back_ == last_->bytes && stored_hash_.hex() != last_->sha256) {
    damage_ = fmt::format("version {} is not what was stored (SHA-256)", last_->version);
    return false;
  }
  if (frame.text.empty()) return true;
  // At the end of the text, find the last line, of at most 50, that has a uuid: a document refers to this
  // place by it. If they have none, the time of the last line alone is kept.
  std::string_view text = frame.text;
  for (int lines = 0; lines < 50 && !text.empty() && read_back_ == backup_.bytes; ++lines) {
    text.remove_suffix(1);
    const std::size_t begin = text.rfind('\n') + 1;
    const Json line = Json::parse_partial(text.substr(begin)).value;
    text = text.substr(0, begin);
    if (!line.is_object()) continue;
    const host::TranscriptRecord record = host_.read_record(line);
    if (record.uuid.empty() && !(record.at && lines == 0)) continue;
    if (!record.uuid.empty()) backup_.last_uuid = gate_.id(record.uuid);
    if (record.at) backup_.last_record_at = record.at;
    if (!record.uuid.empty()) break;
  }
  return true;
}

Result<bool> Copy::step_verify() {
  FrameText frame;
  for (std::size_t read = 0; read < 4 * kStepBytes; read += frame.text.size() + 1) {
    if (!reader_->next(frame)) {
      if (segment_ && new_hash_.hex() != writer_->sha256())
        return Error{Code::corrupt, "read back: the text is not what was written"};
      if (read_back_ != backup_.bytes) return Error{Code::corrupt, "read back: some of the text is missing"};
      backup_.sha256 = stored_hash_.hex();
      phase_ = Phase::done;
      return false;
    }
    if (TRY(check_frame(frame))) continue;
    // The transcript still exists, so copy all of it again.
    if (segment_)
      ignore(disk_.remove(places_.directory + "/" + store::segment_file(base_.name, segment_->ordinal)));
    reader_.reset();
    source_ = TRY(disk_.open(job_.path, os::Open::read));
    TRY(start_base());
    return true;
  }
  return true;
}

Result<std::optional<store::Backup>> Copy::register_backup(WallTime now) {
  // stat_ was taken before the first byte was read. If the file has grown since then it differs from stat_,
  // and the sweep copies it again.
  TRY(store::note_source(db_, job_.path, stat_, now));
  if (!reader_) return std::optional<store::Backup>();
  backup_.created_at = backup_.verified_at = now;
  return std::optional(TRY(store::add_backup(db_, base_, segment_, backup_)));
}

}  // namespace cairn::archive
