#include "base/ids.h"

#include <sys/random.h>

#include <array>

#include "base/hash.h"
#include "base/result.h"

namespace cairn {

static void fill_random(unsigned char* to, std::size_t count) {
  while (count > 0) {
    // Up to 256 bytes are never interrupted by a signal, and no caller asks for more.
    const ssize_t got = getrandom(to, count, 0);
    CAIRN_ASSERT(got > 0);
    to += got;
    count -= static_cast<std::size_t>(got);
  }
}

std::string random_hex(std::size_t count) {
  std::string bytes(count, '\0');
  fill_random(reinterpret_cast<unsigned char*>(bytes.data()), count);
  return to_hex(bytes);
}

// RFC 9562, version 7: 48 bits of time, so that ids sort by it; then version, variant and random bits.
std::string new_uuid(std::int64_t wall_ms) {
  std::array<unsigned char, 16> b{};
  fill_random(b.data(), b.size());
  for (int i = 0; i < 6; ++i)
    b[static_cast<std::size_t>(i)] = static_cast<unsigned char>(wall_ms >> (40 - 8 * i));
  b[6] = static_cast<unsigned char>(0x70 | (b[6] & 0x0f));
  b[8] = static_cast<unsigned char>(0x80 | (b[8] & 0x3f));
  std::string hex = to_hex({reinterpret_cast<const char*>(b.data()), b.size()});
  // From the back, so that a dash does not move the places of the others.
  for (const std::size_t at : {20u, 16u, 12u, 8u}) hex.insert(at, 1, '-');
  return hex;
}

bool is_event_id(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace cairn
