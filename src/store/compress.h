// Compression of stored payloads: one zstd frame with its size and a checksum.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn::store {

// Larger than any text the gate lets through; a frame that claims more is damaged.
inline constexpr std::size_t kMaxText = 256u << 20;

std::string compress(std::string_view bytes);

// Whether the bytes begin like a zstd frame, as those of compress() do.
inline bool is_compressed(std::string_view bytes) {
  return bytes.starts_with("\x28\xb5\x2f\xfd");
}

// Undoes compress(). Fails with `corrupt` when the frame is damaged, and with `invalid`, before anything is
// allocated, when the content is larger than `max` bytes.
Result<std::string> decompress(std::string_view frame, std::size_t max = kMaxText);

}  // namespace cairn::store
