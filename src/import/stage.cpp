#include "import/stage.h"

#include <algorithm>
#include <array>
#include <optional>

#include "os/path.h"

namespace cairn::importer {

// The database, its write-ahead log, and the journal of a transaction that was interrupted.
// Not the -shm file: SQLite makes it again from the log.
static constexpr std::array kParts = {"", "-wal", "-journal"};
static constexpr int kTries = 5;

static bool is_same(const Result<os::Stat>& a, const Result<os::Stat>& b) {
  if (!a || !b) return !a && !b;
  return a->size == b->size && a->modified_ns == b->modified_ns && a->inode == b->inode;
}

static Status copy_file(os::Disk& disk, const std::string& from, const std::string& to) {
  const auto source = TRY(disk.open(from, os::Open::read));
  const auto target = TRY(disk.open(to, os::Open::read_write));
  TRY(target->truncate(0));
  std::string piece(1u << 20, '\0');
  for (std::uint64_t at = 0;;) {
    const std::size_t got = TRY(source->read_at(at, piece.data(), piece.size()));
    if (got == 0) return target->sync();
    TRY(target->write_at(at, std::string_view(piece).substr(0, got)));
    at += got;
  }
}

Status copy_database(os::Disk& disk, const std::string& from, const std::string& to) {
  for (int tried = 0; tried < kTries; ++tried) {
    remove_database(disk, to);
    std::array<std::optional<Result<os::Stat>>, kParts.size()> before;
    // No lock is taken in the other program's database. If size, time and inode of all files are the same
    // before and after the copy, it belongs together.
    for (std::size_t i = 0; i < kParts.size(); ++i) before[i] = disk.stat(from + kParts[i]);
    for (std::size_t i = 0; i < kParts.size(); ++i)
      if (i == 0 || (before[i]->ok() && (*before[i])->size > 0))
        TRY(copy_file(disk, from + kParts[i], to + kParts[i]));
    bool same = true;
    for (std::size_t i = 0; i < kParts.size(); ++i)
      same = same && is_same(*before[i], disk.stat(from + kParts[i]));
    if (same) return disk.sync_dir(os::above(to));
  }
  remove_database(disk, to);
  return Error{Code::busy, from + " is being written to: stop the program that does, or try again"};
}

void remove_database(os::Disk& disk, const std::string& path) {
  for (const char* part : {"-wal", "-journal", "-shm", ""}) static_cast<void>(disk.remove(path + part));
}

Result<bool> is_database(os::Disk& disk, const std::string& path) {
  const auto file = TRY(disk.open(path, os::Open::read));
  std::string head(16, '\0');
  const std::size_t got = TRY(file->read_at(0, head.data(), head.size()));
  return std::string_view(head).substr(0, got) == std::string_view("SQLite format 3\0", 16);
}

}  // namespace cairn::importer
