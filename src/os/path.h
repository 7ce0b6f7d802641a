// Paths as text.
#pragma once

#include <climits>
#include <string>
#include <string_view>

namespace cairn::os {

// The beginning of `path`, cut at a slash, that a system call takes. What is longer cannot exist, and to walk
// up through its parts would take time quadratic in its length.
inline std::string reachable(std::string_view path) {
  if (path.size() >= PATH_MAX) path = path.substr(0, path.rfind('/', PATH_MAX - 1));
  return std::string(path);
}

// The directory above; itself for "/" and for a name without a slash.
inline std::string above(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return path;
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace cairn::os
