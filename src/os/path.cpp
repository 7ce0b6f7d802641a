#include "os/path.h"

#include <filesystem>

namespace cairn::os {

std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace cairn::os
