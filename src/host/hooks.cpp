#include "host/hooks.h"

#include <unistd.h>

#include <cstdlib>

#include "base/text.h"

namespace cairn::host {

std::optional<std::string> on_path(std::string_view program) {
  const char* path = std::getenv("PATH");
  for (const std::string_view directory : split(path ? path : "", ':')) {
    const std::string file = std::string(directory) + "/" + std::string(program);
    if (!directory.empty() && access(file.c_str(), X_OK) == 0) return file;
  }
  return std::nullopt;
}

}  // namespace cairn::host
