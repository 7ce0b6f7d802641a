// Whether what stands beside a telling name is a secret: it must look like one too, and how much it must
// depends on the name and on how the two stand together.
#pragma once

#include <string_view>

#include "gate/telling_names.h"

namespace cairn::gate {

enum class Style {
  quoted,
  env,      // NAME=value
  plain,    // name: value, name = value
  paired,   // set("name", "value")
  beside,   // PASSWORD 'value', the password is value
  loose,    // a blank or a line break between them
  certain,  // the notation alone says that it is one: only placeholders, variables and references are spared
};

bool is_secret(Strength strength, Style style, std::string_view value);

// Whether the name says that this value is something else: the id of a session, a directory.
bool is_named_otherwise(std::string_view name, std::string_view value);

// A variable, a call, a path or what documentation writes: it stands for a secret and is none. So does the
// word for a password in any language.
bool is_reference(std::string_view value);

// Small letters that make no word.
bool is_unspoken(std::string_view value);

// A path or an address: each of its parts is a name.
bool is_path(std::string_view value);

}  // namespace cairn::gate
