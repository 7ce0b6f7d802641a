#include "git/index.h"

#include <charconv>

namespace cairn::git {

namespace {

constexpr std::uint32_t kMaxEntries = 20'000;
constexpr int kMaxDepth = 100;  // of directories: limits the recursion for a damaged file

// See git's index-format document. After the first error good_ is false, every function returns something
// empty, and run() gives nothing: callers need not check each field.
class IndexReader {
 public:
  explicit IndexReader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<Index> run() {
    if (!bytes_.starts_with("DIRC")) return std::nullopt;
    at_ = 4;
    version_ = number(4);
    const std::uint32_t count = number(4);
    if (version_ < 2 || version_ > 4 || count > kMaxEntries) return std::nullopt;
    Index index;
    index.entries.reserve(count);
    while (index.entries.size() < count && good_) index.entries.push_back(entry());
    // Extensions (a name and a size of four bytes each) up to the checksum at the end of the file.
    while (good_ && at_ + 8 + kObjectIdSize <= bytes_.size()) extension(index);
    if (!good_) return std::nullopt;
    return index;
  }

 private:
  // Big-endian.
  std::uint32_t number(std::size_t bytes) {
    std::uint32_t value = 0;
    if (at_ + bytes > bytes_.size()) good_ = false;
    for (; good_ && bytes > 0; --bytes) value = value << 8 | static_cast<unsigned char>(bytes_[at_++]);
    return value;
  }

  std::string_view take(std::size_t count) {
    if (count > bytes_.size() || at_ > bytes_.size() - count) good_ = false;
    if (!good_) return {};
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }

  // Reads up to `end` and skips it.
  std::string_view up_to(char end) {
    const std::size_t found = bytes_.find(end, at_);
    if (found == std::string_view::npos) good_ = false;
    if (!good_) return {};
    const std::string_view text = bytes_.substr(at_, found - at_);
    at_ = found + 1;
    return text;
  }

  IndexEntry entry() {
    const std::size_t start = at_;
    IndexEntry e;
    take(8);  // when its inode changed
    const std::int64_t seconds = number(4);
    e.modified_ns = seconds * 1'000'000'000 + number(4);
    take(8);  // device, inode
    e.mode = number(4);
    take(8);  // owner, group
    e.size = number(4);
    e.blob = take(kObjectIdSize);
    const std::uint32_t flags = number(2);
    const std::uint32_t more = (flags & 0x4000) && version_ >= 3 ? number(2) : 0;
    // `git update-index --assume-unchanged` and a sparse checkout: git itself does not look at these files.
    const bool assumed_valid = flags & 0x8000, skipped = more & 0x4000;
    e.is_looked_at = (e.mode & 0170000) == 0100000 && !assumed_valid && !skipped;
    e.is_in_conflict = flags & 0x3000;  // the stage; 0 in a file without a conflict
    e.path = version_ == 4 ? packed_name() : std::string(up_to('\0'));
    // Entries are padded with NUL bytes to a multiple of eight.
    if (version_ != 4) at_ = start + (at_ - start + 7) / 8 * 8;
    last_ = e.path;
    return e;
  }

  // Version 4: the number of bytes to drop from the previous name, then the bytes to append. The number has
  // seven bits a byte, high bits first; each further byte adds one. The mask is for damaged files.
  std::string packed_name() {
    std::uint64_t drop = number(1);
    while ((drop & 0x80) && good_)
      drop = ((((drop & ~std::uint64_t{0x80}) + 1) << 7) | number(1)) & 0xffffffff;
    const std::string rest(up_to('\0'));
    if (drop > last_.size()) good_ = false;
    return good_ ? last_.substr(0, last_.size() - static_cast<std::size_t>(drop)) + rest : std::string();
  }

  void extension(Index& index) {
    const std::string_view name = take(4);
    const std::size_t size = number(4);
    const std::size_t end = at_ + size;
    if (name == "link") good_ = false;  // most of the entries are in another file
    if (name == "TREE" && end <= bytes_.size()) written_trees(index, "", 0);
    at_ = end;
  }

  // A directory, then its subdirectories. A directory that changed since git wrote its tree has a count of
  // -1.
  void written_trees(Index& index, const std::string& parent, int depth) {
    const std::string_view name = up_to('\0');
    const int entries = decimal(up_to(' ')), below = decimal(up_to('\n'));
    const std::string path = parent.empty() ? std::string(name) : parent + "/" + std::string(name);
    if (entries >= 0) index.written[path] = take(kObjectIdSize);
    if (depth > kMaxDepth) good_ = false;
    for (int i = 0; i < below && good_; ++i) written_trees(index, path, depth + 1);
  }

  int decimal(std::string_view text) {
    int value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size()) good_ = false;
    return value;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint32_t version_ = 0;
  bool good_ = true;
  std::string last_;
};

}  // namespace

std::optional<Index> read_index(std::string_view bytes) {
  return IndexReader(bytes).run();
}

}  // namespace cairn::git
