// Paths as text.
#pragma once

#include <climits>
#include <string>
#include <string_view>

namespace cairn::os {

// The longest beginning of `path`, cut at a slash, that is short enough for a system call. A longer path
// cannot exist, and walking up through its parts would take quadratic time.
inline std::string reachable(std::string_view path) {
  if (path.size() >= PATH_MAX) path = path.substr(0, path.rfind('/', PATH_MAX - 1));
  return std::string(path);
}

// The parent directory. "/" and a name without a slash are their own parent.
inline std::string above(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return path;
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The path seen from the current directory, without "." and "..". Links are not followed.
std::string absolute(const std::string& path);

}  // namespace cairn::os
