#include "support/sim_disk.h"

#include <algorithm>
#include <cerrno>
#include <set>

namespace cairn::test {

namespace {

constexpr std::uint64_t kSector = 512;  // the most that a power cut leaves whole

std::string clean(const std::string& path) {
  CAIRN_ASSERT(path.starts_with('/'));
  std::string out = path;
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

// A write or, without bytes, a change of size.
struct Change {
  std::uint64_t at = 0;
  std::string bytes;
  bool is_truncate = false;
};

void apply_change(const Change& change, std::string& content) {
  if (change.is_truncate) {
    content.resize(change.at, '\0');
    return;
  }
  const std::uint64_t end = change.at + change.bytes.size();
  if (content.size() < end) content.resize(end, '\0');
  content.replace(change.at, change.bytes.size(), change.bytes);
}

// The part of a write that made it to the platter: up to a sector border inside it, or nothing when there is
// none.
Change torn(Change change, std::mt19937_64& random) {
  const std::uint64_t first = change.at / kSector + 1;
  const std::uint64_t last = (change.at + change.bytes.size()) / kSector;
  if (first > last) {
    change.bytes.clear();
  } else {
    change.bytes.resize((first + random() % (last - first + 1)) * kSector - change.at);
  }
  return change;
}

// How a power cut treats what was not synced. The extremes have a share of their own: among many writes,
// chance alone would hardly ever lose or keep all.
enum class Fate { all_lost, all_made, mixed };

Fate fate_of(std::mt19937_64& random) {
  switch (random() % 6) {
    case 0: return Fate::all_lost;
    case 1: return Fate::all_made;
    default: return Fate::mixed;
  }
}

}  // namespace

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

struct SimDisk::Inode {
  std::uint64_t number = 0;
  bool is_dir = false;
  bool has_name = true;
  std::int64_t modified_ns = 0;
  std::string content;           // as programs see it
  std::string durable;           // as a power cut would leave it
  std::vector<Change> unsynced;  // what lies between the two

  void change(Change change) {
    apply_change(change, content);
    unsynced.push_back(std::move(change));
  }

  void sync() {
    for (const Change& change : unsynced) apply_change(change, durable);
    unsynced.clear();
  }

  void cut(std::mt19937_64& random) {
    const Fate fate = fate_of(random);
    if (fate == Fate::all_lost) unsynced.clear();
    if (fate == Fate::mixed) {
      for (std::size_t i = unsynced.size(); i > 1; --i) std::swap(unsynced[i - 1], unsynced[random() % i]);
      std::vector<Change> made;
      for (Change& change : unsynced) {
        const auto chance = random() % 3;
        if (chance == 0) continue;
        made.push_back(chance == 1 || change.is_truncate ? std::move(change)
                                                         : torn(std::move(change), random));
      }
      unsynced = std::move(made);
    }
    sync();
    content = durable;
  }
};

class SimDisk::Handle final : public os::File {
 public:
  Handle(SimDisk& disk, std::string path, InodePtr inode, bool writable)
      : disk_(disk),
        path_(std::move(path)),
        inode_(std::move(inode)),
        writable_(writable),
        life_(disk.life_) {}

  Result<std::size_t> read_at(std::uint64_t offset, char* to, std::size_t size) override {
    TRY(enter("read", Calls::all));
    const std::string& content = inode_->content;
    if (offset >= content.size()) return std::size_t{0};
    return content.copy(to, size, offset);
  }

  Status write_at(std::uint64_t offset, std::string_view bytes) override {
    if (!writable_) return errno_error("write " + path_, EBADF);
    auto entered = enter("write", Calls::changing);
    if (!entered.ok()) {
      if (entered.error().code == Code::full && alive()) put(offset, bytes.substr(0, bytes.size() / 2));
      return entered;
    }
    const std::size_t fits = room(offset, bytes.size());
    put(offset, bytes.substr(0, fits));
    if (fits < bytes.size()) return errno_error("write " + path_, ENOSPC);
    return {};
  }

  Status truncate(std::uint64_t size) override {
    if (!writable_) return errno_error("truncate " + path_, EBADF);
    TRY(enter("truncate", Calls::changing));
    inode_->change({.at = size, .is_truncate = true});
    inode_->modified_ns = disk_.now_ns();
    return {};
  }

  Result<std::uint64_t> size() override {
    TRY(enter("size", Calls::all));
    return std::uint64_t{inode_->content.size()};
  }

  Status sync() override {
    auto entered = enter("sync", Calls::changing);
    if (!entered.ok()) {
      if (entered.error().code == Code::internal && alive()) inode_->unsynced.clear();
      return entered;
    }
    inode_->sync();
    if (disk_.options_.names_durable_with_fsync) {
      disk_.sync_names([&](const NameChange& change) { return change.inode == inode_; });
    }
    return {};
  }

  Status give_name(const std::string& raw_path) override {
    const std::string path = clean(raw_path);
    TRY(enter("name", Calls::changing, path));
    TRY(disk_.need_parent(path).in("name"));
    if (disk_.unnamed_how_ != Unnamed::can_be_named) return errno_error("name " + path, ENOENT);
    if (disk_.find(path)) return Error{Code::busy, "name " + path + ": exists"};
    inode_->has_name = true;
    disk_.change_name({.path = path, .inode = inode_});
    return {};
  }

 private:
  bool alive() const { return life_ == disk_.life_ && !disk_.halted_; }

  Status enter(std::string_view op, Calls kind) { return enter(op, kind, path_); }
  Status enter(std::string_view op, Calls kind, const std::string& path) {
    if (life_ != disk_.life_) return errno_error("dead handle: " + std::string(op) + " " + path, EIO);
    return disk_.begin_call(op, path, kind);
  }

  void put(std::uint64_t offset, std::string_view bytes) {
    if (bytes.empty()) return;
    inode_->change({.at = offset, .bytes = std::string(bytes)});
    inode_->modified_ns = disk_.now_ns();
  }

  // How many of `size` bytes at `offset` the disk can hold.
  std::size_t room(std::uint64_t offset, std::size_t size) const {
    const std::uint64_t end = offset + size;
    const std::uint64_t have = inode_->content.size();
    if (!disk_.capacity_ || end <= have) return size;
    const std::uint64_t used = disk_.used();
    const std::uint64_t free = *disk_.capacity_ > used ? *disk_.capacity_ - used : 0;
    if (end - have <= free) return size;
    return have + free > offset ? static_cast<std::size_t>(have + free - offset) : 0;
  }

  SimDisk& disk_;
  std::string path_;
  InodePtr inode_;
  bool writable_;
  std::uint64_t life_;
};

SimDisk::SimDisk(const Options& options) : options_(options) {
  names_["/"] = durable_["/"] = new_inode(true);
}

SimDisk::~SimDisk() = default;

void SimDisk::provide_dir(const std::string& path) {
  const std::string dir = clean(path);
  if (dir != "/") provide_dir(parent_of(dir));
  if (!names_.contains(dir)) names_[dir] = durable_[dir] = new_inode(true);
}

void SimDisk::provide_file(const std::string& path, std::string bytes) {
  provide_dir(parent_of(clean(path)));
  const InodePtr inode = new_inode(false);
  inode->content = inode->durable = std::move(bytes);
  names_[clean(path)] = durable_[clean(path)] = inode;
}

void SimDisk::power_cut(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  sync_names_by_seed(random);
  drop_unreachable();
  for (auto& [path, inode] : durable_) inode->cut(random);
  names_ = durable_;
  crash();
}

void SimDisk::crash() {
  CAIRN_ASSERT(!observing_);
  ++life_;
  halted_ = false;
  clear_faults();
}

void SimDisk::fail_at(std::uint64_t k, int error_number, Calls which) {
  fault_ = Fault{calls(which) + k, error_number, which, Fault::once};
}

void SimDisk::fail_from(std::uint64_t k, int error_number, Calls which) {
  fault_ = Fault{calls(which) + k, error_number, which, Fault::stays};
}

void SimDisk::halt_at(std::uint64_t k, Calls which) {
  fault_ = Fault{calls(which) + k, EIO, which, Fault::halts};
}

std::uint64_t SimDisk::calls(Calls which) const {
  return which == Calls::changing ? changing_calls_ : all_calls_;
}

std::uint64_t SimDisk::used() const {
  std::uint64_t sum = 0;
  for (const auto& [path, inode] : names_) sum += inode->content.size();
  for (const auto& left : unnamed_)
    if (const InodePtr inode = left.lock(); inode && !inode->has_name) sum += inode->content.size();
  return sum;
}

Status SimDisk::begin_call(std::string_view op, const std::string& path, Calls kind) {
  if (looking_on_) return {};
  if (observer_ && !observing_) {
    observing_ = true;
    observer_(op, path);
    observing_ = false;
  }
  ++all_calls_;
  if (kind == Calls::changing) ++changing_calls_;
  const int error_number = fault_of_this_call(kind);
  if (error_number == 0) return {};
  return errno_error(std::string(op) + " " + path, error_number);
}

int SimDisk::fault_of_this_call(Calls kind) {
  if (halted_) return EIO;
  if (!fault_ || (fault_->which == Calls::changing && kind != Calls::changing)) return 0;
  const std::uint64_t number = calls(fault_->which);
  if (number < fault_->at) return 0;
  const int error_number = fault_->error_number;
  halted_ = fault_->kind == Fault::halts;
  if (fault_->kind != Fault::stays) fault_.reset();
  return error_number;
}

Status SimDisk::need_parent(const std::string& path) const {
  const InodePtr parent = find(parent_of(path));
  if (!parent) return errno_error(path, ENOENT);
  if (!parent->is_dir) return errno_error(path, ENOTDIR);
  return {};
}

SimDisk::InodePtr SimDisk::find(const std::string& path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? nullptr : found->second;
}

SimDisk::InodePtr SimDisk::new_inode(bool is_dir) {
  auto inode = std::make_shared<Inode>();
  inode->number = next_inode_++;
  inode->is_dir = is_dir;
  inode->modified_ns = now_ns();
  return inode;
}

std::int64_t SimDisk::now_ns() const {
  return options_.clock ? options_.clock->wall_ns() : 0;
}

void SimDisk::apply(const NameChange& change, Names& names) {
  if (!change.from.empty()) names.erase(change.from);
  if (change.inode) {
    names[change.path] = change.inode;
  } else {
    names.erase(change.path);
  }
}

void SimDisk::change_name(NameChange change) {
  apply(change, names_);
  unsynced_names_.push_back(std::move(change));
}

// Makes the wanted changes durable, and with each the earlier ones of the same names: a journal keeps their
// order.
template <class Predicate>
void SimDisk::sync_names(Predicate wanted) {
  std::vector<bool> chosen(unsynced_names_.size());
  std::set<std::string> names;
  for (std::size_t i = unsynced_names_.size(); i-- > 0;) {
    const NameChange& change = unsynced_names_[i];
    chosen[i] = wanted(change) || names.contains(change.path) || names.contains(change.from);
    if (!chosen[i]) continue;
    names.insert(change.path);
    if (!change.from.empty()) names.insert(change.from);
  }
  std::vector<NameChange> left;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) {
      apply(unsynced_names_[i], durable_);
    } else {
      left.push_back(std::move(unsynced_names_[i]));
    }
  }
  unsynced_names_ = std::move(left);
}

// Once a change is lost, so are the later ones of the same names.
void SimDisk::sync_names_by_seed(std::mt19937_64& random) {
  const Fate fate = fate_of(random);
  std::set<std::string> lost;
  for (const NameChange& change : unsynced_names_) {
    const bool unlucky = fate == Fate::all_lost || (fate == Fate::mixed && random() % 2 == 0);
    if (unlucky || lost.contains(change.path) || lost.contains(change.from)) {
      lost.insert(change.path);
      if (!change.from.empty()) lost.insert(change.from);
    } else {
      apply(change, durable_);
    }
  }
  unsynced_names_.clear();
}

// What stood in a directory whose own name was lost is gone with it. Parents sort before their children.
void SimDisk::drop_unreachable() {
  for (auto it = durable_.begin(); it != durable_.end();) {
    it = durable_.contains(parent_of(it->first)) ? std::next(it) : durable_.erase(it);
  }
}

Result<std::unique_ptr<os::File>> SimDisk::open(const std::string& raw_path, os::Open how) {
  const std::string path = clean(raw_path);
  if (how == os::Open::unnamed) return open_unnamed(path);
  const bool reads = how == os::Open::read || how == os::Open::read_own;
  const bool creates = !reads && !names_.contains(path);
  TRY(begin_call(creates ? "create" : "open", path, creates ? Calls::changing : Calls::all));
  TRY(need_parent(path).in("open"));
  InodePtr inode = find(path);
  if (inode && inode->is_dir) return errno_error("open " + path, EISDIR);
  if (inode && how == os::Open::create_new) return Error{Code::busy, "open " + path + ": exists"};
  if (!inode && reads) return errno_error("open " + path, ENOENT);
  if (!inode) {
    inode = new_inode(false);
    change_name({.path = path, .inode = inode});
  }
  return std::unique_ptr<os::File>(std::make_unique<Handle>(*this, path, std::move(inode), !reads));
}

Result<std::unique_ptr<os::File>> SimDisk::open_unnamed(const std::string& directory) {
  TRY(begin_call("create", directory, Calls::changing));
  TRY(need_parent(directory + "/file").in("open"));
  if (unnamed_how_ == Unnamed::refused)
    return Error{Code::unsupported, "open " + directory + ": no files without a name"};
  InodePtr inode = new_inode(false);
  inode->has_name = false;
  std::erase_if(unnamed_, [](const auto& left) { return left.expired(); });
  unnamed_.push_back(inode);
  return std::unique_ptr<os::File>(std::make_unique<Handle>(*this, directory, std::move(inode), true));
}

Status SimDisk::rename(const std::string& raw_from, const std::string& raw_to) {
  const std::string from = clean(raw_from);
  const std::string to = clean(raw_to);
  TRY(begin_call("rename", to, Calls::changing));
  TRY(need_parent(to).in("rename"));
  const InodePtr inode = find(from);
  if (!inode) return errno_error("rename " + from, ENOENT);
  const InodePtr replaced = find(to);
  if (inode->is_dir || (replaced && replaced->is_dir)) return errno_error("rename " + from, EISDIR);
  if (from != to) change_name({.path = to, .inode = inode, .from = from});
  return {};
}

Status SimDisk::remove(const std::string& raw_path) {
  const std::string path = clean(raw_path);
  TRY(begin_call("remove", path, Calls::changing));
  const InodePtr inode = find(path);
  if (!inode) return errno_error("remove " + path, ENOENT);
  if (inode->is_dir) return errno_error("remove " + path, EISDIR);
  change_name({.path = path});
  return {};
}

Status SimDisk::make_dir(const std::string& raw_path) {
  const std::string path = clean(raw_path);
  TRY(begin_call("make_dir", path, Calls::changing));
  if (const InodePtr there = find(path)) {
    if (!there->is_dir) return Error{Code::invalid, "make_dir " + path + ": a file is in the way"};
    return {};
  }
  TRY(need_parent(path).in("make_dir"));
  change_name({.path = path, .inode = new_inode(true)});
  return {};
}

Result<std::vector<std::string>> SimDisk::list(const std::string& raw_path) {
  const std::string path = clean(raw_path);
  TRY(begin_call("list", path, Calls::all));
  const InodePtr dir = find(path);
  if (!dir) return errno_error("list " + path, ENOENT);
  if (!dir->is_dir) return errno_error("list " + path, ENOTDIR);
  const std::string start = path == "/" ? path : path + "/";
  std::vector<std::string> found;
  for (auto it = names_.upper_bound(start); it != names_.end() && it->first.starts_with(start); ++it) {
    std::string name = it->first.substr(start.size());
    if (name.find('/') == std::string::npos) found.push_back(std::move(name));
  }
  return found;
}

Result<os::Stat> SimDisk::stat(const std::string& raw_path) {
  const std::string path = clean(raw_path);
  TRY(begin_call("stat", path, Calls::all));
  const InodePtr inode = find(path);
  if (!inode) return errno_error("stat " + path, ENOENT);
  return os::Stat{inode->is_dir, inode->content.size(), inode->modified_ns, inode->number};
}

Status SimDisk::sync_dir(const std::string& raw_path) {
  const std::string path = clean(raw_path);
  TRY(begin_call("sync_dir", path, Calls::changing));
  const InodePtr dir = find(path);
  if (!dir) return errno_error("sync_dir " + path, ENOENT);
  sync_names([&](const NameChange& change) {
    return parent_of(change.path) == path || (!change.from.empty() && parent_of(change.from) == path);
  });
  return {};
}

}  // namespace cairn::test
