// The name of the provider that needs no model: the distiller of this program.
#pragma once

#include <string_view>

namespace cairn::event {

// As rows and the setting agent.provider have it.
inline constexpr std::string_view kBuiltin = "builtin";

}  // namespace cairn::event
