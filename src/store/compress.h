// Payloads as they rest in the store: one zstd frame that knows its size and carries a checksum.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn::store {

std::string compress(std::string_view bytes);

// What compress() was given. Fails with `corrupt` when the frame is damaged, and with `invalid` before
// allocating anything when the content is larger than `max` bytes.
Result<std::string> decompress(std::string_view frame, std::size_t max);

}  // namespace cairn::store
