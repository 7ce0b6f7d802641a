#include "support/sim_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <vector>

#include "support/sim_disk.h"

namespace cairn::test {

namespace {

struct SimFile;
// Who holds which lock on one file, as SQLITE_LOCK_*.
using Locks = std::map<const SimFile*, int>;

}  // namespace

struct SimVfs::State {
  explicit State(os::Disk& d) : disk(d) {}
  os::Disk& disk;
  std::string name;
  sqlite3_vfs vfs{};
  std::map<std::string, Locks> locks;
  int last_error = 0;
  std::uint64_t temporaries = 0;
  std::uint64_t ticks = 0;
};

namespace {

using State = SimVfs::State;

// What SQLite allocates for us; `base` comes first, as its C interface wants it.
struct SimFile {
  sqlite3_file base{};
  State* state = nullptr;
  std::string path;
  std::unique_ptr<os::File> file;
  bool delete_on_close = false;
  bool sync_dir_first = false;
};

SimFile& self(sqlite3_file* file) {
  return *reinterpret_cast<SimFile*>(file);
}
State& state_of(sqlite3_vfs* vfs) {
  return *static_cast<State*>(vfs->pAppData);
}

// Remembers what SQLite will ask for by xGetLastError, and gives back `rc`.
int failed(State& state, const Error& error, int rc) {
  switch (error.code) {
    case Code::full: state.last_error = ENOSPC; break;
    case Code::denied: state.last_error = EACCES; break;
    case Code::not_found: state.last_error = ENOENT; break;
    default: state.last_error = EIO; break;
  }
  return rc;
}

int close_file(sqlite3_file* raw) {
  SimFile& file = self(raw);
  file.state->locks[file.path].erase(&file);
  if (file.delete_on_close) ignore(file.state->disk.remove(file.path));
  file.~SimFile();
  return SQLITE_OK;
}

int read_file(sqlite3_file* raw, void* to, int size, sqlite3_int64 offset) {
  SimFile& file = self(raw);
  const auto wanted = static_cast<std::size_t>(size);
  const auto got = file.file->read_at(static_cast<std::uint64_t>(offset), static_cast<char*>(to), wanted);
  if (!got.ok()) return failed(*file.state, got.error(), SQLITE_IOERR_READ);
  if (*got == wanted) return SQLITE_OK;
  std::memset(static_cast<char*>(to) + *got, 0, wanted - *got);
  return SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* raw, const void* from, int size, sqlite3_int64 offset) {
  SimFile& file = self(raw);
  const std::string_view bytes(static_cast<const char*>(from), static_cast<std::size_t>(size));
  const auto done = file.file->write_at(static_cast<std::uint64_t>(offset), bytes);
  if (done.ok()) return SQLITE_OK;
  const bool full = done.error().code == Code::full;
  return failed(*file.state, done.error(), full ? SQLITE_FULL : SQLITE_IOERR_WRITE);
}

int truncate_file(sqlite3_file* raw, sqlite3_int64 size) {
  SimFile& file = self(raw);
  const auto done = file.file->truncate(static_cast<std::uint64_t>(size));
  return done.ok() ? SQLITE_OK : failed(*file.state, done.error(), SQLITE_IOERR_TRUNCATE);
}

int sync_file(sqlite3_file* raw, int) {
  SimFile& file = self(raw);
  const auto done = file.file->sync();
  if (!done.ok()) return failed(*file.state, done.error(), SQLITE_IOERR_FSYNC);
  if (!file.sync_dir_first) return SQLITE_OK;
  const auto dir = file.state->disk.sync_dir(parent_of(file.path));
  if (!dir.ok()) return failed(*file.state, dir.error(), SQLITE_IOERR_DIR_FSYNC);
  file.sync_dir_first = false;
  return SQLITE_OK;
}

int size_of_file(sqlite3_file* raw, sqlite3_int64* size) {
  SimFile& file = self(raw);
  const auto got = file.file->size();
  if (!got.ok()) return failed(*file.state, got.error(), SQLITE_IOERR_FSTAT);
  *size = static_cast<sqlite3_int64>(*got);
  return SQLITE_OK;
}

// The most anybody else holds. Those whose process died hold nothing.
int others_hold(const Locks& locks, const SimFile& file) {
  int most = SQLITE_LOCK_NONE;
  for (const auto& [holder, level] : locks) {
    if (holder != &file && holder->file->size().ok()) most = std::max(most, level);
  }
  return most;
}

// The call that finds out whether the handle is alive: a dead process must not get a lock.
int lock_file(sqlite3_file* raw, int level) {
  SimFile& file = self(raw);
  const auto alive = file.file->size();
  if (!alive.ok()) return failed(*file.state, alive.error(), SQLITE_IOERR_LOCK);
  Locks& locks = file.state->locks[file.path];
  const auto mine = locks.find(&file);
  if (mine != locks.end() && mine->second >= level) return SQLITE_OK;
  const int others = others_hold(locks, file);
  if (level == SQLITE_LOCK_SHARED && others >= SQLITE_LOCK_PENDING) return SQLITE_BUSY;
  if (level >= SQLITE_LOCK_RESERVED && others >= SQLITE_LOCK_RESERVED) return SQLITE_BUSY;
  if (level == SQLITE_LOCK_EXCLUSIVE && others >= SQLITE_LOCK_SHARED) {
    locks[&file] = SQLITE_LOCK_PENDING;
    return SQLITE_BUSY;
  }
  locks[&file] = level;
  return SQLITE_OK;
}

int unlock_file(sqlite3_file* raw, int level) {
  SimFile& file = self(raw);
  Locks& locks = file.state->locks[file.path];
  if (level == SQLITE_LOCK_NONE) {
    locks.erase(&file);
  } else if (locks.contains(&file)) {
    locks[&file] = std::min(locks[&file], level);
  }
  return SQLITE_OK;
}

int check_reserved_lock(sqlite3_file* raw, int* reserved) {
  SimFile& file = self(raw);
  *reserved = others_hold(file.state->locks[file.path], file) >= SQLITE_LOCK_RESERVED;
  return SQLITE_OK;
}

int file_control(sqlite3_file*, int, void*) {
  return SQLITE_NOTFOUND;
}
int sector_size(sqlite3_file*) {
  return 4096;
}

// What the unix VFS claims too, so tests take production's path through SQLite: a torn write spoils no bytes
// around it. (Without it SQLite pads the WAL and leaves the padding unsynced, which a sync that fails later
// can lose.)
int device_characteristics(sqlite3_file*) {
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

const sqlite3_io_methods kMethods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* raw, int flags, int* out_flags) {
  State& state = state_of(vfs);
  raw->pMethods = nullptr;
  const std::string path = name ? name : "/temporary-" + std::to_string(state.temporaries++);
  const bool existed = state.disk.stat(path).ok();
  if (!existed && !(flags & SQLITE_OPEN_CREATE)) {
    state.last_error = ENOENT;
    return SQLITE_CANTOPEN;
  }
  os::Open how = flags & SQLITE_OPEN_READWRITE ? os::Open::read_write : os::Open::read;
  if (flags & SQLITE_OPEN_EXCLUSIVE) how = os::Open::create_new;
  auto opened = state.disk.open(path, how);
  if (!opened.ok()) return failed(state, opened.error(), SQLITE_CANTOPEN);

  SimFile* file = new (raw) SimFile;
  file->base.pMethods = &kMethods;
  file->state = &state;
  file->path = path;
  file->file = std::move(opened).value();
  file->delete_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
  constexpr int kJournals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
  file->sync_dir_first = !existed && (flags & kJournals) != 0;
  if (out_flags) *out_flags = flags;
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_dir) {
  State& state = state_of(vfs);
  const auto removed = state.disk.remove(name);
  if (!removed.ok()) {
    const bool absent = removed.error().code == Code::not_found;
    return failed(state, removed.error(), absent ? SQLITE_IOERR_DELETE_NOENT : SQLITE_IOERR_DELETE);
  }
  if (!sync_dir) return SQLITE_OK;
  const auto synced = state.disk.sync_dir(parent_of(name));
  return synced.ok() ? SQLITE_OK : failed(state, synced.error(), SQLITE_IOERR_DIR_FSYNC);
}

// As in the unix VFS an empty file does not exist for SQLite, and an error other than absence is returned.
int access_file(sqlite3_vfs* vfs, const char* name, int flags, int* result) {
  State& state = state_of(vfs);
  const auto stat = state.disk.stat(name);
  if (!stat.ok() && stat.error().code != Code::not_found)
    return failed(state, stat.error(), SQLITE_IOERR_ACCESS);
  *result = stat.ok() && (flags != SQLITE_ACCESS_EXISTS || stat->is_dir || stat->size > 0);
  return SQLITE_OK;
}

int full_pathname(sqlite3_vfs*, const char* name, int size, char* out) {
  const std::string path = *name == '/' ? name : std::string("/") + name;
  if (path.size() >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
  std::memcpy(out, path.c_str(), path.size() + 1);
  return SQLITE_OK;
}

int randomness(sqlite3_vfs* vfs, int size, char* out) {
  State& state = state_of(vfs);
  for (int i = 0; i < size; ++i) out[i] = static_cast<char>((++state.ticks * 0x9E3779B97F4A7C15u) >> 56);
  return size;
}

int do_not_sleep(sqlite3_vfs*, int microseconds) {
  return microseconds;
}

int current_time(sqlite3_vfs*, double* julian_day) {
  *julian_day = 2461305.0;
  return SQLITE_OK;
}

int last_error(sqlite3_vfs* vfs, int, char*) {
  return state_of(vfs).last_error;
}

}  // namespace

SimVfs::SimVfs(os::Disk& disk) : state_(std::make_unique<State>(disk)) {
  static int count = 0;
  state_->name = "sim-" + std::to_string(++count);
  sqlite3_vfs& vfs = state_->vfs;
  vfs.iVersion = 1;
  vfs.szOsFile = sizeof(SimFile);
  vfs.mxPathname = 1024;
  vfs.zName = state_->name.c_str();
  vfs.pAppData = state_.get();
  vfs.xOpen = open_file;
  vfs.xDelete = delete_file;
  vfs.xAccess = access_file;
  vfs.xFullPathname = full_pathname;
  vfs.xRandomness = randomness;
  vfs.xSleep = do_not_sleep;
  vfs.xCurrentTime = current_time;
  vfs.xGetLastError = last_error;
  CAIRN_ASSERT(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK);
  // SQLite draws the salts of a WAL from a generator of its own, seeded by the default VFS: seed it here
  // instead.
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, count, nullptr);
}

SimVfs::~SimVfs() {
  sqlite3_vfs_unregister(&state_->vfs);
}

const std::string& SimVfs::name() const {
  return state_->name;
}

}  // namespace cairn::test
