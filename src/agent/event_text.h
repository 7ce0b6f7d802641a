// One event as text for a model: a command with its output, a change as a diff, a read as its path.
#pragma once

#include <string>
#include <string_view>

#include "store/evidence.h"

namespace cairn::agent {

// `text` with its middle replaced by "… [N bytes cut] …" so that at most about `max` bytes remain; two thirds
// of them are the beginning. Whole when it fits.
std::string cut_middle(std::string_view text, std::size_t max);

struct EventText {
  std::string what;  // in a few words: "command, failed"; has no text of the event
  std::string text;
};
// `host`: the host whose tools the event names. Each field has at most about `max` bytes. The text is visible
// UTF-8.
EventText event_text(const store::KeptEvent& event, std::string_view host, std::size_t max);

}  // namespace cairn::agent
