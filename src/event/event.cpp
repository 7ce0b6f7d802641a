#include "event/event.h"

namespace cairn::event {

std::string_view kind_name(Kind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

}  // namespace cairn::event
