// Deliveries that failed: what a hook could not write to the inbox, for the user to be told and for the
// daemon to look for in the transcripts.
//
// A plain text file, one line for each: milliseconds since the epoch, the event, the session, and why. It is
// `inbox/failed`, where the daemon keeps room as blanks, so that a line can be left on a full disk too. Where
// that cannot be written (a read-only home, a disk that was full before the daemon ever ran) the line goes to
// a file in the memory of this machine, which lasts until the next boot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hook/home.h"
#include "os/disk.h"

namespace cairn::hook {

// More is not kept: that it happened matters more than how often.
inline constexpr std::size_t kMaxFailures = 64u << 10;

struct Failure {
  std::int64_t at_ms = 0;
  std::string event;
  std::string session;  // empty: unknown
  std::string why;
};

// Adds a line to the note: in the home, if it is ours and can be written, else outside it.
void note_failure(os::Disk& disk, const Home& home, bool home_is_ours, const Failure& failure);

// The lines of a note, oldest first. A line that is not understood counts as one of an unknown time.
std::vector<Failure> parse_failures(std::string_view note);

// What hooks noted and no daemon has counted yet.
std::vector<Failure> read_failures(os::Disk& disk, const Home& home);

}  // namespace cairn::hook
