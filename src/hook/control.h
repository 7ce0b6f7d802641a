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

// What is printed for `event` when there is no text for the host: kFixedAnswer, but nothing for a compaction.
// The host makes what PreCompact prints a part of its compaction instructions, and shows it to the user.
std::string_view fixed_answer(std::string_view event);

// The fixed answer of a session's start, with one line for the user that says what is broken.
std::string broken_answer(std::string_view what);

// {"v":1,"op":"answer","args":{"event":"ID","ms":N}}: the answer to an event that this hook has just
// delivered, within N ms. The reply is the line to print.
std::string answer_request(const EventId& event, int budget_ms);

// Sent after printing; without it the receipt stays unconfirmed.
inline constexpr std::string_view kGiven = "{\"v\":1,\"op\":\"given\"}\n";

}  // namespace cairn::hook
