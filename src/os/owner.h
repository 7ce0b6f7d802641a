// Checks who owns a file or directory.
//
// Another user's directory in our home could steal events, another user's file could inject some, and a link
// could make us write elsewhere. So anything that this user does not own is refused before it is read or
// written.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace cairn::os {

// Checks that `path` is a directory of this user, or a link of this user or of root to one. Fails with
// `not_found`; with `denied` when it is no directory, another user's, or has the sticky bit (such as /tmp).
Status own_directory(const std::string& path);

// Checks that `path` is a file or socket of this user and not a link, or does not exist. Fails with `denied`.
Status own_file(const std::string& path);

// Creates an empty file with mode 0600. One that is there is not touched: closing a second descriptor of it
// would drop the locks that this process holds on it.
Status create_private(const std::string& path);

// Removes all rights of the group and of others on a directory of this user.
Status close_to_others(const std::string& path);

// The whole of a file of at most `max` bytes that only this user can read. Fails with `denied` when others
// can read or write it, or when it is another user's; the message says what to do.
Result<std::string> read_secret(const std::string& path, std::size_t max);

}  // namespace cairn::os
