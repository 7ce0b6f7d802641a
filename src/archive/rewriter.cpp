#include "archive/rewriter.h"

#include <limits>

#include "base/text.h"

namespace cairn::archive {

Result<std::unique_ptr<Rewriter>> Rewriter::open(store::Db& db, os::Disk& disk, const Places& places,
                                                 store::BackupBase base, const std::string& mark, int level,
                                                 Change change) {
  std::unique_ptr<Rewriter> made(new Rewriter(db, disk, places, std::move(base), level, std::move(change)));
  // HASH-ORDINAL, or HASH-ORDINALfMARK when it was rewritten before.
  const std::string& name = made->base_.name;
  made->name_ = name.substr(0, name.find('f', name.rfind('-'))) + "f" + mark;
  made->old_ = TRY(store::segments_of(db, made->base_.id, std::numeric_limits<std::int64_t>::max()));
  made->reader_.emplace(disk, places.directory, made->base_.name, made->old_);
  return made;
}

Status Rewriter::begin_segment(std::int64_t ordinal) {
  ordinal_ = ordinal;
  writer_.emplace(TRY(SegmentWriter::create(
      disk_, places_.directory + "/tmp/" + store::segment_file(name_, ordinal), level_)));
  return {};
}

Status Rewriter::end_segment() {
  if (!writer_) return {};
  const std::string file = store::segment_file(base_.name, ordinal_);
  // The new file keeps what the old trailer says about the source: seal() sets only what was rewritten.
  Json about = TRY(read_trailer(disk_, places_.directory + "/" + file));
  Written done;
  done.segment = TRY(writer_->seal(ordinal_, std::move(about)));
  done.sha256 = text_hash_.hex();
  done.bytes = bytes_;
  TRY(writer_->move_to(places_.directory + "/" + store::segment_file(name_, ordinal_)));
  written_.push_back(std::move(done));
  writer_.reset();
  return {};
}

Result<bool> Rewriter::step() {
  FrameText frame;
  if (!reader_->next(frame)) {
    TRY(end_segment());
    return false;
  }
  if (frame.fault) {
    fault_ = *frame.fault;
    return false;
  }
  if (frame.segment != ordinal_) {
    TRY(end_segment());
    TRY(begin_segment(frame.segment));
  }
  std::string_view text = frame.text;
  std::string changed;
  for (std::int64_t number = frame.first_line; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    // A changed line is still one line: anchors of documents count lines.
    const bool is_changed = change_(line, changed);
    if (is_changed) lines_.insert(number);
    const std::string_view kept = is_changed ? std::string_view(changed) : line;
    TRY(writer_->add_line(kept));
    text_hash_.add(kept);
    text_hash_.add("\n");
    bytes_ += static_cast<std::int64_t>(kept.size()) + 1;
  }
  return true;
}

Status Rewriter::commit() {
  // A copy may have added a version since open(). Its file is not among the rewritten ones.
  if (TRY(store::segments_of(db_, base_.id, std::numeric_limits<std::int64_t>::max())).size() != old_.size())
    return Error{Code::busy, "the backup grew while it was rewritten"};
  std::vector<store::RewrittenSegment> segments;
  for (const Written& one : written_) segments.push_back({one.segment, one.sha256, one.bytes});
  return store::replace_segments(db_, base_, name_, segments);
}

void Rewriter::discard() {
  writer_.reset();
  for (const Written& one : written_)
    ignore(disk_.remove(places_.directory + "/" + store::segment_file(name_, one.segment.ordinal)));
  written_.clear();
}

}  // namespace cairn::archive
