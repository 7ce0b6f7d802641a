// Whose something on the disk is.
//
// A directory of another user in our home could take events away, and a file of his could feed us some. A
// link could make us write elsewhere. So what is not ours is refused, before anything is read or written
// there.
#pragma once

#include <string>

#include "base/result.h"

namespace cairn::os {

// `path` is a directory of this user's, or a link of his to one. Fails with `not_found`; with `denied` when
// it is another user's, or one that everybody writes in (such as /tmp).
Status own_directory(const std::string& path);

// `path` is this user's file or socket and no link, or there is nothing. Fails with `denied`.
Status own_file(const std::string& path);

// Makes one's own directory 0700.
Status close_to_others(const std::string& path);

}  // namespace cairn::os
