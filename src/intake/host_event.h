// A host's JSON, read into an Event. The one place that knows how Claude Code names things.
#pragma once

#include <string_view>

#include "base/result.h"
#include "hook/envelope.h"
#include "store/event.h"

namespace cairn::intake {

// Reads what the hook delivered. Fails with `invalid`, saying why, when nothing says which session it belongs
// to; a payload that broke off or was cut gives an event with what was readable. Unknown names and members
// are kept.
Result<store::Event> read_host_event(const EventId& id, const hook::Envelope& envelope,
                                     std::string_view payload);

// The kind of a host's event name; `other` for one that is not known.
store::Kind kind_of(std::string_view name);

}  // namespace cairn::intake
