// Failed deliveries: events that a hook could not write to the inbox. The user is warned, and the daemon
// searches the transcripts for them.
//
// A text file with one line for each: milliseconds since the epoch, event, session, reason. It is
// `inbox/failed`, where the daemon reserves space as blanks, so that a line can be written on a full disk.
// When that is impossible (a read-only home, a disk that was full before the first daemon), the line goes to
// a file in shared memory, which lasts until the next boot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hook/home.h"
#include "os/disk.h"

namespace cairn::hook {

// More lines are not kept: knowing that it happened matters more than how often.
inline constexpr std::size_t kMaxFailures = 64u << 10;

struct Failure {
  std::int64_t at_ms = 0;
  std::string event;
  std::string session;  // empty: unknown
  std::string why;
};

// Adds a line: in the home if that is ours and can be written, else outside it.
void note_failure(os::Disk& disk, const Home& home, bool home_is_ours, const Failure& failure);

// The lines of a file of failures, oldest first. A line that cannot be parsed counts with an unknown time.
std::vector<Failure> parse_failures(std::string_view note);

// Failures that no daemon has counted yet.
std::vector<Failure> read_failures(os::Disk& disk, const Home& home);

}  // namespace cairn::hook
