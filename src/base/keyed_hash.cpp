// Apart from hash.cpp, so that cairn-hook does not link libsodium.
#include <sodium.h>

#include "base/hash.h"
#include "base/result.h"

namespace cairn {

std::string keyed_hash(std::string_view key, std::string_view text) {
  unsigned char out[16];
  const int failed =
      crypto_generichash(out, sizeof out, reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                         reinterpret_cast<const unsigned char*>(key.data()), key.size());
  CAIRN_ASSERT(failed == 0);
  return to_hex({reinterpret_cast<const char*>(out), sizeof out});
}

}  // namespace cairn
