// The interface to the disk, where tests inject faults.
//
// The inbox and everything else that must survive goes through a Disk. Production uses RealDisk. Tests use a
// simulated one, also under SQLite, with power cuts and I/O errors at a chosen call. Paths are absolute.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn::os {

// An open file. Belongs to one thread. Closed by its destructor.
class File {
 public:
  virtual ~File() = default;
  // Reads up to `size` bytes at `offset`; fewer only at the end of the file.
  virtual Result<std::size_t> read_at(std::uint64_t offset, char* to, std::size_t size) = 0;
  // Writes all of `bytes` at `offset`.
  virtual Status write_at(std::uint64_t offset, std::string_view bytes) = 0;
  virtual Status truncate(std::uint64_t size) = 0;
  virtual Result<std::uint64_t> size() = 0;
  // On return the file's bytes and size survive a power cut; its name only after Disk::sync_dir.
  virtual Status sync() = 0;
  // A file that was opened as Open::unnamed appears at `path`, whole or not at all; fails with `busy` if
  // something is there.
  virtual Status give_name(const std::string& path) {
    return Error{Code::unsupported, "name " + path + ": the file has a name"};
  }
};

enum class Open {
  read,        // must exist; fails with `invalid` for anything but a regular file
  read_own,    // the same, and must belong to this user and not be a link; otherwise `invalid`
  read_write,  // created with mode 0600 if absent
  create_new,  // fails with `busy` if it exists
  append_own,  // for writing at its end; created with mode 0600 if absent; must be a regular file of this
               // user and not be a link; otherwise `invalid`
  unnamed,  // a new file for the directory `path`, removed when closed, unless it was given a name there or
            // in another directory of the same file system; `unsupported` where the system cannot do that
};

struct Stat {
  bool is_dir = false;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
};

// Thread-safe.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual Result<std::unique_ptr<File>> open(const std::string& path, Open how) = 0;
  // Atomically replaces `to`.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  // Fails with `not_found` when there is no such file.
  virtual Status remove(const std::string& path) = 0;
  // Creates one directory with mode 0700; an existing one is success.
  virtual Status make_dir(const std::string& path) = 0;
  // Names in `path` without "." and "..", in no order.
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
  virtual Result<Stat> stat(const std::string& path) = 0;
  // On return the names in `path` survive a power cut.
  virtual Status sync_dir(const std::string& path) = 0;
  // An absolute path with its links resolved as far as it exists, without "." and "..". Never fails: what
  // cannot be resolved stays as it is. A disk without links only normalises.
  virtual std::string real_path(const std::string& path);
};

// The machine's disk.
class RealDisk final : public Disk {
 public:
  Result<std::unique_ptr<File>> open(const std::string& path, Open how) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status make_dir(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<Stat> stat(const std::string& path) override;
  Status sync_dir(const std::string& path) override;
  std::string real_path(const std::string& path) override;
};

// Creates `path` and its missing parents, each with mode 0700.
Status make_dirs(Disk& disk, const std::string& path);

// The whole of a file of at most `max` bytes; a longer one fails with `invalid`.
Result<std::string> read_file(Disk& disk, const std::string& path, std::size_t max, Open how = Open::read);

// Writes a file beside `path`, syncs it, renames it over `path` and syncs the directory. After a crash the
// file has its old or its new content.
Status replace_file(Disk& disk, const std::string& path, std::string_view bytes);

// Adds `bytes` at the end of a file of this user in one write; creates it, but not its directory. See
// Open::append_own.
Status append_to_own(Disk& disk, const std::string& path, std::string_view bytes);

}  // namespace cairn::os
