// A disk in memory that forgets what was not synced: os::Disk for the code under test and, through SimVfs,
// for SQLite.
//
// A file has two states: what programs see, and what survives a power cut. Writes and names become durable
// only by sync() and sync_dir(); a power cut keeps, loses or tears each of the others, as a seed decides.
// Errors can be injected at any call. Nothing here depends on time or chance: the same calls and seeds give
// the same disk.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/clock.h"
#include "os/disk.h"

namespace cairn::test {

// The directory that an absolute path is in.
std::string parent_of(const std::string& path);

// Belongs to one thread. Outlives the files opened on it.
class SimDisk final : public os::Disk {
 public:
  struct Options {
    // ext4: syncing a new or renamed file makes its name durable too. POSIX promises nothing of the kind.
    bool names_durable_with_fsync = false;
    os::Clock* clock = nullptr;  // for Stat::modified_ns; none: 0
  };
  // What is counted and can fail: calls that change the disk (syncs and opens that create count), or every
  // call.
  enum class Calls { changing, all };

  explicit SimDisk(const Options& options);
  SimDisk() : SimDisk(Options{}) {}
  ~SimDisk() override;

  // Makes a directory and those above it exist durably, as if made long before the test.
  void provide_dir(const std::string& path);
  // The same for a file and its bytes.
  void provide_file(const std::string& path, std::string bytes);

  // The power fails and comes back. Everything synced is there. Each unsynced write was lost, made or torn at
  // a 512-byte sector; each unsynced change of names was lost or made, a rename as a whole. Handles opened
  // before fail from now on. Faults are cleared; the capacity stays. Not to be called by an observer: see
  // halt().
  void power_cut(std::uint64_t seed);
  // The process dies, the machine keeps running. All writes are kept; handles and faults are gone.
  void crash();
  // Every call from now on fails, as if the process were dead. Call crash() or power_cut() afterwards. When
  // an observer calls it, the observed call fails too.
  void halt() { halted_ = true; }
  bool halted() const { return halted_; }
  // Halts at the k-th call from now (1 is the next one), which is not made.
  void halt_at(std::uint64_t k, Calls which = Calls::changing);

  // The k-th call from now fails (1 is the next one) with that errno; a write that fails with ENOSPC has
  // written half. A sync that fails with EIO has lost the writes for good, as on Linux: a later sync that
  // succeeds saves only later writes.
  void fail_at(std::uint64_t k, int error_number, Calls which = Calls::changing);
  // The same from the k-th call on.
  void fail_from(std::uint64_t k, int error_number, Calls which = Calls::changing);
  // How the file system supports files without a name: they can be named, they cannot, or they cannot be
  // created.
  enum class Unnamed { can_be_named, stay_unnamed, refused };
  void set_unnamed(Unnamed how) { unnamed_how_ = how; }
  void clear_faults() { fault_.reset(); }
  // How many bytes all files together may have; a write beyond that is cut short and fails with ENOSPC.
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }

  // How many calls there were, those that failed included.
  std::uint64_t calls(Calls which = Calls::changing) const;
  // How many bytes the files have now.
  std::uint64_t used() const;

  // While one exists, no call fails, is counted or is observed.
  class Onlooker {
   public:
    explicit Onlooker(SimDisk& disk) : disk_(disk), before_(std::exchange(disk.looking_on_, true)) {}
    ~Onlooker() { disk_.looking_on_ = before_; }
    Onlooker(const Onlooker&) = delete;
    Onlooker& operator=(const Onlooker&) = delete;

   private:
    SimDisk& disk_;
    bool before_;
  };

  // Called before every call: open, create, read, write, truncate, size, sync, rename and name (path: the new
  // name), remove, make_dir, list, stat, sync_dir.
  using Observer = std::function<void(std::string_view op, std::string_view path)>;
  void on_call(Observer observer) { observer_ = std::move(observer); }

  Result<std::unique_ptr<os::File>> open(const std::string& path, os::Open how) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status make_dir(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<os::Stat> stat(const std::string& path) override;
  Status sync_dir(const std::string& path) override;

 private:
  struct Inode;
  class Handle;
  using InodePtr = std::shared_ptr<Inode>;
  using Names = std::map<std::string, InodePtr>;
  // A change of names that no sync_dir has made durable: `path` now means `inode` (null: nothing), and `from`
  // nothing.
  struct NameChange {
    std::string path;
    InodePtr inode;
    std::string from;
  };
  struct Fault {
    std::uint64_t at = 0;  // the number of the call, as calls() counts
    int error_number = 0;
    Calls which = Calls::changing;
    enum { once, stays, halts } kind = once;
  };

  Status begin_call(std::string_view op, const std::string& path, Calls kind);
  int fault_of_this_call(Calls kind);
  Status need_parent(const std::string& path) const;
  Result<std::unique_ptr<os::File>> open_unnamed(const std::string& directory);
  InodePtr find(const std::string& path) const;
  InodePtr new_inode(bool is_dir);
  void change_name(NameChange change);
  static void apply(const NameChange& change, Names& names);
  template <class Predicate>
  void sync_names(Predicate wanted);
  void sync_names_by_seed(std::mt19937_64& random);
  void drop_unreachable();
  std::int64_t now_ns() const;

  Options options_;
  Names names_;    // as programs see them
  Names durable_;  // as a power cut would leave them
  std::vector<NameChange> unsynced_names_;
  std::optional<Fault> fault_;
  std::optional<std::uint64_t> capacity_;
  std::uint64_t changing_calls_ = 0;
  std::uint64_t all_calls_ = 0;
  std::uint64_t next_inode_ = 1;
  std::uint64_t life_ = 0;  // handles of an earlier life are dead
  Observer observer_;
  bool observing_ = false;
  bool halted_ = false;
  bool looking_on_ = false;
  Unnamed unnamed_how_ = Unnamed::can_be_named;
  std::vector<std::weak_ptr<Inode>> unnamed_;  // and those that were, some of them gone
};

}  // namespace cairn::test
