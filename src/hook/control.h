// What a hook sends on the control socket. docs/reference/control.md describes the whole protocol: one JSON
// object per line, in both directions. To be fast, a hook has no JSON code: it formats its request as text
// and prints the answer unchanged.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"

namespace cairn::hook {

inline constexpr int kProtocol = 1;

// The answer where nothing is injected, and on every failure.
inline constexpr std::string_view kFixedAnswer = R"({"continue": true, "suppressOutput": true})";

// What the hook does for an event, by host and event name. The hook knows nothing else about a host.
struct EventRule {
  enum class Asks {
    nothing,
    context,  // a session starts: start the daemon and ask it for context; warn the user if something is
              // broken
    due,      // a prompt: ask a running daemon for context that the session's start did not get
  };
  std::string_view host, event;
  Asks asks = Asks::nothing;
  std::string_view answer = kFixedAnswer;  // printed when there is no context; empty: print nothing
};

// The rule of that event. An unknown host has the rules of the default one; an unknown event asks for
// nothing.
EventRule rule_of(std::string_view host, std::string_view event);

// The fixed answer of a session's start, with one line for the user that says what is broken.
std::string broken_answer(std::string_view what);

// {"v":1,"op":"answer","args":{"event":"ID","ms":N}}: the answer to an event that this hook has just
// delivered, within N ms. The reply is the line to print.
std::string answer_request(const EventId& event, int budget_ms);

// Sent after printing; without it the receipt stays unconfirmed.
inline constexpr std::string_view kGiven = "{\"v\":1,\"op\":\"given\"}\n";

}  // namespace cairn::hook
