#include "intake/git_changes.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "intake/place.h"
#include "os/disk.h"

namespace cairn::intake {

namespace {

constexpr std::size_t kMaxIndex = 16u << 20;
constexpr std::uint32_t kMaxEntries = 20'000;
constexpr std::size_t kMaxChanged = 200;
constexpr auto kMaxTime = std::chrono::milliseconds(100);

struct Entry {
  std::string path;
  std::int64_t modified_ns = 0;
  std::uint32_t size = 0;
  bool is_file = false;  // a plain file, and one that git itself would look at
};

// The entries of an index of version 2, 3 or 4, as git's index-format document has them.
class IndexReader {
 public:
  explicit IndexReader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::vector<Entry>> run() {
    if (!bytes_.starts_with("DIRC")) return std::nullopt;
    at_ = 4;
    version_ = number(4);
    const std::uint32_t count = number(4);
    if (version_ < 2 || version_ > 4 || count > kMaxEntries) return std::nullopt;
    std::vector<Entry> entries;
    entries.reserve(count);
    while (entries.size() < count && good_) entries.push_back(entry());
    if (!good_) return std::nullopt;
    return entries;
  }

 private:
  std::uint32_t number(std::size_t bytes) {
    std::uint32_t value = 0;
    if (at_ + bytes > bytes_.size()) good_ = false;
    for (; good_ && bytes > 0; --bytes) value = value << 8 | static_cast<unsigned char>(bytes_[at_++]);
    return value;
  }

  Entry entry() {
    const std::size_t start = at_;
    Entry e;
    at_ += 8;  // when its inode changed
    const std::int64_t seconds = number(4);
    e.modified_ns = seconds * 1'000'000'000 + number(4);
    at_ += 8;  // device, inode
    const std::uint32_t mode = number(4);
    at_ += 8;  // owner, group
    e.size = number(4);
    at_ += 20;  // the blob
    const std::uint32_t flags = number(2);
    const std::uint32_t more = (flags & 0x4000) && version_ >= 3 ? number(2) : 0;
    const bool assumed_valid = flags & 0x8000, skipped = more & 0x4000;
    e.is_file = (mode & 0170000) == 0100000 && !assumed_valid && !skipped;
    e.path = version_ == 4 ? packed_name() : name();
    if (version_ != 4) at_ = start + (at_ - start + 7) / 8 * 8;  // the end of the name's NUL bytes
    last_ = e.path;
    return e;
  }

  // Up to its NUL, which is passed over.
  std::string name() {
    const std::size_t end = at_ > bytes_.size() ? std::string_view::npos : bytes_.find('\0', at_);
    if (end == std::string_view::npos) {
      good_ = false;
      return {};
    }
    std::string text(bytes_.substr(at_, end - at_));
    at_ = end + 1;
    return text;
  }

  // Version 4: how much of the name before is to be dropped, then what is put in its place.
  std::string packed_name() {
    std::uint64_t drop = number(1);
    while ((drop & 0x80) && good_)
      drop = ((((drop & ~std::uint64_t{0x80}) + 1) << 7) | number(1)) & 0xffffffff;
    const std::string rest = name();
    if (drop > last_.size()) good_ = false;
    return good_ ? last_.substr(0, last_.size() - static_cast<std::size_t>(drop)) + rest : std::string();
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint32_t version_ = 0;
  bool good_ = true;
  std::string last_;
};

bool is_changed(os::Disk& disk, const std::string& path, const Entry& entry) {
  const auto now = disk.stat(path);
  if (!now) return now.error().code == Code::not_found;
  return static_cast<std::uint32_t>(now->size) != entry.size || now->modified_ns != entry.modified_ns;
}

}  // namespace

std::vector<std::string> changed_files(const std::string& directory, const std::vector<std::string>& known) {
  const auto git = git_of(directory);
  if (!git) return {};
  os::RealDisk disk;
  const auto bytes = os::read_file(disk, git->directory + "/index", kMaxIndex);
  if (!bytes) return {};
  const auto entries = IndexReader(*bytes).run();
  if (!entries) return {};
  const auto end = std::chrono::steady_clock::now() + kMaxTime;
  std::vector<std::string> changed;
  std::set<std::string_view> tracked;
  for (const Entry& entry : *entries) {
    tracked.insert(entry.path);
    if (entry.is_file && is_changed(disk, git->worktree + "/" + entry.path, entry))
      changed.push_back(entry.path);
    if (tracked.size() % 64 == 0 && std::chrono::steady_clock::now() > end) return {};
  }
  if (entries->size() > 20 && changed.size() * 10 > entries->size() * 9) return {};
  for (const std::string& path : known)
    if (!path.starts_with('/') && !path.starts_with("..") && !tracked.contains(path) &&
        disk.stat(git->worktree + "/" + path).ok())
      changed.push_back(path);
  if (changed.size() > kMaxChanged) changed.resize(kMaxChanged);
  return changed;
}

}  // namespace cairn::intake
