// SHA-256 over pieces. A copy of the object continues independently, so that the hash of a prefix can be
// taken.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  // The hash of everything added so far, as 64 hex digits. More can be added afterwards.
  std::string hex() const;

 private:
  alignas(8) unsigned char state_[128];
};

std::string sha256(std::string_view bytes);

}  // namespace cairn
