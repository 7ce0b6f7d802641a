#include "git/blob.h"

#include "base/sha1.h"
#include "base/text.h"

namespace cairn::git {

// Git hashes a header in front of the content: "blob SIZE" and a NUL.
std::string blob_id(std::string_view content) {
  std::string head = "blob " + std::to_string(content.size());
  head.push_back('\0');
  return sha1(head, content);
}

Result<std::string> blob_of_file(os::Disk& disk, const std::string& path, std::size_t max) {
  return blob_id(TRY(os::read_file(disk, path, max)));
}

std::optional<std::string> path_below(const std::string& root, const std::string& path) {
  if (root.empty() || !root.starts_with('/') || path.empty()) return std::nullopt;
  // Refused, not resolved: what ".." leads to depends on links.
  for (const std::string_view part : split(path, '/'))
    if (part == "..") return std::nullopt;
  if (!path.starts_with('/')) return root + "/" + path;
  if (!path.starts_with(root + "/")) return std::nullopt;
  return path;
}

}  // namespace cairn::git
