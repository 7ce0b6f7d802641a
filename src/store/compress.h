// Compression of stored payloads: one zstd frame with its size and a checksum.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn::store {

std::string compress(std::string_view bytes);

// Undoes compress(). Fails with `corrupt` when the frame is damaged, and with `invalid`, before anything is
// allocated, when the content is larger than `max` bytes.
Result<std::string> decompress(std::string_view frame, std::size_t max);

}  // namespace cairn::store
