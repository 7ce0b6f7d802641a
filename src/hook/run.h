// cairn-hook: reads one event of the host from stdin, writes it to the inbox and prints the answer.
//
// Whatever happens, at most one answer is printed (EventRule::answer says for which events there is none),
// stderr stays empty and the result is 0: the host is never disturbed.
#pragma once

#include "os/disk.h"

namespace cairn::hook {

// `cairn-hook EVENT [--host NAME]`. Sets the umask of the process and ignores SIGPIPE and SIGXFSZ.
// Always returns 0.
int run(os::Disk& disk, int argc, char** argv);

}  // namespace cairn::hook
