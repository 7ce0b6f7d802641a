// Starting the daemon from a hook or a command, by one set of rules, so that a broken daemon never costs more
// than an attempt now and then.
#pragma once

#include <string>
#include <string_view>

#include "hook/home.h"
#include "os/clock.h"
#include "os/disk.h"

namespace cairn::hook {

enum class Start {
  running,  // somebody holds the lock
  started,  // this call started it; it may not answer yet
  waiting,  // another caller is starting it, or the last attempt is too recent
  missing,  // there is no `cairn` beside this executable
  failed,   // fork failed, or the home cannot be written
};

// The daemon.start record: attempts that have not been answered yet, and when the last one was. A text file
// of one line:
//   cairn1 AAAA BBBBBBBBBBBBBBBBBBBB IIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII\n   (attempts, boot ns, boot id)
// At most one attempt per 5 s, doubling to 5 min, until a daemon has answered and cleared it (clear_start). A
// record of another boot counts for nothing. `force` (a command typed by a person) ignores the pause, not the
// lock.
Start start_daemon(os::Disk& disk, const Home& home, os::Clock& clock, const std::string& cairn, bool force);

// Why the daemon that was started last could not serve, as it noted itself; empty: it did not say, or it
// serves.
std::string why_not_started(os::Disk& disk, const Home& home);

// Called by a daemon that cannot serve: behind the record of its start stands `why REASON\n` until the next
// attempt. Does nothing when there is no record.
void note_why_not_started(os::Disk& disk, const Home& home, std::string_view reason);

// Called by a daemon that serves: the next death is followed by a start at once.
void clear_start(os::Disk& disk, const Home& home);

// `cairn` beside the running executable.
std::string cairn_beside_me();

}  // namespace cairn::hook
