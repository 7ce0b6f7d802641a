#include "archive/restore.h"

#include <fmt/format.h>

namespace cairn::archive {

namespace {

// A temporary file beside the target; removed unless it was renamed to the target.
class Staged {
 public:
  Staged(os::Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  ~Staged() {
    file_.reset();
    if (!moved_) ignore(disk_.remove(path_));
  }
  Status open() {
    // An interrupted restore may have left one. If it cannot be removed, open() says why.
    ignore(disk_.remove(path_));
    file_ = TRY(disk_.open(path_, os::Open::create_new));
    return {};
  }
  Status write(std::string_view text) {
    TRY(file_->write_at(written_, text));
    written_ += text.size();
    return {};
  }
  Status move_to(const std::string& path) {
    // First the content, then the name: after a power cut a file with this name is whole.
    TRY(file_->sync());
    file_.reset();
    TRY(disk_.rename(path_, path));
    moved_ = true;
    return disk_.sync_dir(path.substr(0, path.rfind('/')));
  }

 private:
  os::Disk& disk_;
  std::string path_;
  std::unique_ptr<os::File> file_;
  std::uint64_t written_ = 0;
  bool moved_ = false;
};

// Whether the file begins with the backup's text, or with what the host had when it was copied.
Result<bool> begins_with_backup(os::Disk& disk, const std::string& path, const store::Backup& backup) {
  auto file = TRY(disk.open(path, os::Open::read));
  const std::uint64_t size = TRY(file->size());
  for (const auto& [bytes, sha256] :
       {std::pair(backup.bytes, &backup.sha256), std::pair(backup.source_bytes, &backup.source_sha256)}) {
    if (size < static_cast<std::uint64_t>(bytes)) continue;
    Sha256 hash;
    std::string block(kStepBytes, '\0');
    std::uint64_t at = 0;
    const auto end = static_cast<std::uint64_t>(bytes);
    while (at < end) {
      const std::size_t got =
          TRY(file->read_at(at, block.data(), std::min<std::uint64_t>(block.size(), end - at)));
      if (got == 0) break;
      hash.add(std::string_view(block).substr(0, got));
      at += got;
    }
    if (hash.hex() == *sha256) return true;
  }
  return false;
}

// The lines of `text` that are records.
std::string records_of(std::string_view text, std::int64_t& lost) {
  std::string kept;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t feed = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, feed - begin);
    line_fault(line) ? static_cast<void>(++lost) : static_cast<void>(kept.append(line).append("\n"));
    begin = feed + 1;
  }
  return kept;
}

}  // namespace

Result<Restored> restore(store::Db& db, os::Disk& disk, const Places& places, const store::Backup& backup,
                         const std::string& path, bool salvage) {
  Restored result{path, backup.lines, backup.bytes, 0, false};
  if (const auto there = disk.stat(path)) {
    if (!there->is_dir && TRY(begins_with_backup(disk, path, backup))) {
      result.was_there = true;
      return result;
    }
    return Error{Code::invalid,
                 path + " exists and has other content: move it away, or name another place with --to"};
  } else if (there.error().code != Code::not_found) {
    return there.error();
  }
  VersionReader reader = TRY(open_version(db, disk, places.directory, backup));
  TRY(os::make_dirs(disk, path.substr(0, path.rfind('/'))));
  Staged staged(disk, path + ".cairn-part");
  TRY(staged.open());
  result.lines = result.bytes = 0;
  Sha256 hash;
  FrameText frame;
  while (reader.next(frame)) {
    if (frame.fault && !salvage)
      return Error{Code::corrupt,
                   fmt::format("backup B{}: line {}: {}: `--salvage` restores the lines that can "
                               "be read",
                               backup.id, frame.first_line, *frame.fault)};
    if (frame.fault) result.lost += frame.lines;
    const std::int64_t lost = result.lost;
    const std::string text = salvage ? records_of(frame.text, result.lost) : std::move(frame.text);
    if (!frame.fault) result.lines += frame.lines - (result.lost - lost);
    result.bytes += static_cast<std::int64_t>(text.size());
    hash.add(text);
    TRY(staged.write(text));
  }
  // Each frame can be whole and the text still be another one, if a file was exchanged for another.
  if (!salvage && hash.hex() != backup.sha256)
    return Error{Code::corrupt,
                 fmt::format("backup B{}: the text is not what was stored: `--salvage` restores "
                             "the lines that can be read",
                             backup.id)};
  TRY(staged.move_to(path));
  return result;
}

}  // namespace cairn::archive
