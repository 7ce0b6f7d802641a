// Which names announce a secret, and how strongly.
#pragma once

#include <string_view>

namespace cairn::gate {

enum class Strength {
  none,
  weak,      // some key: only a long random value counts
  token,     // a random value: it must look random
  password,  // chosen by a person, perhaps
};

Strength strength_of(std::string_view name);

// "password", "token" or "key", as in the marker.
std::string_view kind_name(Strength strength);

}  // namespace cairn::gate
