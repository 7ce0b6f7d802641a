// Which names say that a secret stands beside them, and how sure they are of it.
#pragma once

#include <string_view>
#include <vector>

namespace cairn::gate {

enum class Strength {
  none,
  weak,      // some key: only a long random value counts
  token,     // drawn by lot: the value must look so
  password,  // chosen by a person, perhaps
};

Strength strength_of(std::string_view name);

// Whether a name ends so, in capitals or not. `end` is in small letters.
bool ends_with_nocase(std::string_view name, std::string_view end);

// "password", "token" or "key", as in the marker.
std::string_view kind_name(Strength strength);

// What a telling name holds, for the search by literals.
const std::vector<std::string_view>& telling_literals();

// Names of passwords that are written in other letters: the whole name.
const std::vector<std::string_view>& foreign_names();

}  // namespace cairn::gate
