// The id that git gives to a file's content, computed from the file itself: it is the same whether the file
// is committed or not.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/disk.h"

namespace cairn::git {

// 40 hex digits, as `git hash-object` prints.
std::string blob_id(std::string_view content);

// Of a file of at most `max` bytes. Fails with `not_found`, or with `invalid` for a larger one or what is not
// a regular file.
Result<std::string> blob_of_file(os::Disk& disk, const std::string& path, std::size_t max);

// `path` as an absolute path; a relative one is below the working tree `root`. Nothing when it is outside of
// `root`.
std::optional<std::string> path_below(const std::string& root, const std::string& path);

}  // namespace cairn::git
