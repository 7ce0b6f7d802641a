// What a hook sends on the control socket. docs/reference/control.md describes the whole protocol: one JSON
// object per line, in both directions. To be fast, a hook has no JSON code: it formats its request as text
// and prints the answer unchanged.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "hook/flags.h"

namespace cairn::hook {

inline constexpr int kProtocol = 1;

// The default host's answer where nothing is injected, and on every failure. From the daemon it means that
// there is nothing to say: the hook prints what its own host expects then.
inline constexpr std::string_view kFixedAnswer = R"({"continue": true, "suppressOutput": true})";

// What the hook does for an event, by host and event name. Apart from the variables that Envelope reads, the
// hook knows nothing else about a host.
struct EventRule {
  enum class Asks {
    nothing,
    context,  // a session starts: start the daemon and ask it for context; warn the user if something is
              // broken
    due,      // a prompt: ask a running daemon for context that the session's start did not get
    help,     // ask a running daemon whether it knows something that helps now
    text,     // the same, but the host takes plain text
  };
  std::string_view host, event;
  Asks asks = Asks::nothing;
  std::string_view answer = kFixedAnswer;  // printed when there is no context; empty: print nothing
  bool Flags::*only_if = nullptr;          // it asks only if hook.flags says so; null: always
  bool warns = true;                       // the host shows "systemMessage" to its user
};

// A reply that is plain text begins with kTextReply, and has kTextLine where the text has a line feed.
inline constexpr char kTextReply = '=';
inline constexpr char kTextLine = '\x1e';
std::string encode_text_reply(std::string_view text);
// The text in a reply; empty: it is none.
std::string decode_text_reply(std::string_view line);

// The rule of that event. An unknown host has the rules of the default one; an unknown event asks for
// nothing. No rule ever blocks a prompt or a tool.
EventRule rule_of(std::string_view host, std::string_view event);

// The fixed answer of a session's start, with one line for the user that says what is broken.
std::string broken_answer(const EventRule& rule, std::string_view what);

// {"v":1,"op":"answer","args":{"event":"ID","ms":N}}: the answer to an event that this hook has just
// delivered, within N ms. The reply is the line to print.
std::string answer_request(const EventId& event, int budget_ms);

// Sent after printing; without it the receipt stays unconfirmed.
inline constexpr std::string_view kGiven = "{\"v\":1,\"op\":\"given\"}\n";

}  // namespace cairn::hook
