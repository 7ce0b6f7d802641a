// What a hook says on the control socket. docs/reference/control.md describes the whole protocol: one JSON
// object a line, each way. A hook writes its line by hand and prints the answer as it comes: it parses
// nothing.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"

namespace cairn::hook {

inline constexpr int kProtocol = 1;

// The answer where nothing is injected, and on every failure.
inline constexpr std::string_view kFixedAnswer = R"({"continue": true, "suppressOutput": true})";

// What the hook knows of an event, by its host and its name there: all that it knows of a host.
struct EventRule {
  enum class Asks {
    nothing,
    context,  // a session starts: the daemon is started and asked, and the user is told what is broken
    due,      // a prompt: a daemon that runs is asked for context that the session has not been given
  };
  std::string_view host, event;
  Asks asks = Asks::nothing;
  std::string_view answer = kFixedAnswer;  // when there is no text for the host; empty: nothing is printed
};

// The rule of that event. A host that is not known is taken for the default one; an event that is not in the
// table asks for nothing.
EventRule rule_of(std::string_view host, std::string_view event);

// The fixed answer of a session's start, with one line for the user that says what is broken.
std::string broken_answer(std::string_view what);

// {"v":1,"op":"answer","args":{"event":"ID","ms":N}}: the answer to an event that this hook has just
// delivered, within N ms. The reply is the line to print.
std::string answer_request(const EventId& event, int budget_ms);

// Sent after printing; without it the receipt stays unconfirmed.
inline constexpr std::string_view kGiven = "{\"v\":1,\"op\":\"given\"}\n";

}  // namespace cairn::hook
