#include "archive/verify.h"

#include <fmt/format.h>

namespace cairn::archive {

// In a file that is no transcript every line is a problem.
static constexpr std::size_t kMostProblems = 100;

static void add(Verified& found, BackupProblem problem) {
  if (found.problems.size() < kMostProblems) found.problems.push_back(std::move(problem));
}

// Checks the lines of `text`, which ends with a line feed. The first line has the number `number`.
static void check_lines(std::string_view text, std::int64_t number, Verified& found) {
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t feed = std::min(text.find('\n', begin), text.size());
    if (const auto fault = line_fault(text.substr(begin, feed - begin))) {
      ++found.malformed;
      add(found, {number, static_cast<std::int64_t>(fault->column), fault->what});
    }
    begin = feed + 1;
  }
}

Result<Verified> verify_backup(store::Db& db, os::Disk& disk, const Places& places,
                               const store::Backup& backup) {
  Verified found;
  VersionReader reader = TRY(open_version(db, disk, places.directory, backup));
  Sha256 hash;
  FrameText frame;
  while (reader.next(frame)) {
    if (frame.fault) {
      found.damaged = true;
      std::string what = *frame.fault;
      if (frame.lines > 1)
        what += fmt::format(" (lines {} to {})", frame.first_line, frame.first_line + frame.lines - 1);
      add(found, {frame.lines > 0 ? frame.first_line : 0, 0, std::move(what)});
    }
    hash.add(frame.text);
    found.bytes += static_cast<std::int64_t>(frame.text.size());
    if (!frame.fault) found.lines += frame.lines;
    check_lines(frame.text, frame.first_line, found);
  }
  found.sha256 = hash.hex();
  // Each frame can be whole and the text still be another one, if a file was exchanged for another.
  if (!found.damaged &&
      (found.sha256 != backup.sha256 || found.lines != backup.lines || found.bytes != backup.bytes)) {
    found.damaged = true;
    add(found, {0, 0, "the text is not what was stored (SHA-256)"});
  }
  return found;
}

Result<Verified> verify_file(os::Disk& disk, const std::string& path) {
  Verified found;
  const os::Stat stat = TRY(disk.stat(path));
  if (stat.is_dir) return Error{Code::invalid, path + " is a directory"};
  auto file = TRY(disk.open(path, os::Open::read));
  Sha256 hash;
  std::string buffer, block(4 * kStepBytes, '\0');
  while (true) {
    const std::size_t got =
        TRY(file->read_at(static_cast<std::uint64_t>(found.bytes), block.data(), block.size()));
    if (got == 0) break;
    const std::string_view read = std::string_view(block).substr(0, got);
    hash.add(read);
    found.bytes += static_cast<std::int64_t>(got);
    // `buffer` holds an unfinished line; only the new bytes can have a line feed.
    const std::size_t had = buffer.size();
    buffer.append(read);
    const std::size_t feed = read.rfind('\n');
    if (feed == std::string_view::npos) {
      if (buffer.size() > kLongestLine)
        return Error{Code::invalid, fmt::format("{}: line {} does not end", path, found.lines + 1)};
      continue;
    }
    const std::string_view whole = std::string_view(buffer).substr(0, had + feed + 1);
    check_lines(whole, found.lines + 1, found);
    found.lines += std::count(whole.begin(), whole.end(), '\n');
    buffer.erase(0, had + feed + 1);
  }
  found.sha256 = hash.hex();
  if (!buffer.empty())
    add(found,
        {found.lines + 1, static_cast<std::int64_t>(buffer.size()) + 1, "the last line is not finished"});
  if (found.bytes == 0) add(found, {0, 0, "the file is empty"});
  return found;
}

}  // namespace cairn::archive
