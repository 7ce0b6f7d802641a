// SHA-1: only to name content as git does. It protects nothing.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

// Of `first` followed by `second`, as 40 hex digits.
std::string sha1(std::string_view first, std::string_view second = {});

}  // namespace cairn
