#include "host/hooks.h"

#include <cstdlib>

#include "base/text.h"
#include "os/path.h"

namespace cairn::host {

Result<std::string> host_directory(const char* variable, std::string_view below) {
  if (const char* directory = *variable ? std::getenv(variable) : nullptr; directory && *directory)
    return os::absolute(directory);
  const char* home = std::getenv("HOME");
  // Without a home the file would be searched below the current directory.
  if (!home || *home != '/')
    return Error{Code::invalid, "HOME is not an absolute path; set it and try again"};
  return std::string(home) + "/" + std::string(below);
}

Result<Json> read_json(os::Disk& disk, const std::string& file) {
  constexpr std::size_t kMaxSettings = 8 << 20;
  auto text = os::read_file(disk, file, kMaxSettings);
  if (!text && text.error().code == Code::not_found) return Json();
  if (!text) return std::move(text).error();
  if (trim(*text).empty()) return Json();
  return Json::parse(*text).in(file);
}

}  // namespace cairn::host
