// Starts the daemon from a hook or a command. One set of rules limits how often a broken daemon is tried.
#pragma once

#include <string>
#include <string_view>

#include "hook/home.h"
#include "os/clock.h"
#include "os/disk.h"

namespace cairn::hook {

enum class Start {
  running,  // a daemon has the lock
  started,  // this call started it; it may not answer yet
  waiting,  // another caller is starting it, or the last attempt is too recent
  missing,  // there is no `cairn` beside this executable
  failed,   // fork failed, or the home cannot be written
};

// The daemon.start record: attempts that have not been answered yet, and when the last one was. A text file
// of one line:
//   cairn1 AAAA BBBBBBBBBBBBBBBBBBBB IIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII\n   (attempts, boot ns, boot id)
// At most one attempt per 5 s, doubling to 5 min, until a daemon has answered and cleared it (clear_start). A
// record of another boot is ignored. `force` (a command typed by a person) ignores the pause, not the lock.
Start start_daemon(os::Disk& disk, const Home& home, os::Clock& clock, const std::string& cairn, bool force);

// Why the last started daemon could not serve, as it recorded itself; empty: unknown, or it serves.
std::string why_not_started(os::Disk& disk, const Home& home);

// Called by a daemon that cannot serve: adds `why REASON\n` to the record of its start until the next
// attempt. Does nothing when there is no record.
void note_why_not_started(os::Disk& disk, const Home& home, std::string_view reason);

// Called by a daemon that serves: when it dies, the next one is started at once.
void clear_start(os::Disk& disk, const Home& home);

// `cairn` beside the running executable.
std::string cairn_beside_me();

}  // namespace cairn::hook
