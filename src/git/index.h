// Reads git's index file: the content of the next commit, and which of its directories are equal to a tree
// object that git has written.
//
// Versions 2, 3 and 4. An index that is split over two files, damaged, or has more than 20,000 entries is not
// read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::git {

inline constexpr std::size_t kObjectIdSize = 20;
using ObjectId = std::string;  // kObjectIdSize bytes

struct IndexEntry {
  std::string path;
  ObjectId blob;
  std::uint32_t mode = 0;
  std::int64_t modified_ns = 0;
  std::uint32_t size = 0;
  bool is_looked_at = false;    // a regular file that git checks for changes
  bool is_in_conflict = false;  // one side of an unfinished merge
};

struct Index {
  std::vector<IndexEntry> entries;          // by path
  std::map<std::string, ObjectId> written;  // directory ("" is the top, no slash at the end) -> its tree
};

std::optional<Index> read_index(std::string_view bytes);

}  // namespace cairn::git
