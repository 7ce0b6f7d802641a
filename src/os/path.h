// Paths as text.
#pragma once

#include <string>

namespace cairn::os {

// The parent directory. "/" and a name without a slash are their own parent.
inline std::string above(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return path;
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The path seen from the current directory, without "." and "..". Links are not followed.
std::string absolute(const std::string& path);

}  // namespace cairn::os
