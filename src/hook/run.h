// cairn-hook, whole: one event of the host, from stdin to the inbox, and one JSON object back.
//
// Whatever happens, exactly one answer is printed, stderr stays empty and the result is 0: the host is never
// hurt.
#pragma once

namespace cairn::hook {

// `cairn-hook EVENT [--host NAME]`. Sets the process's umask and ignores SIGPIPE and SIGXFSZ. Always returns
// 0.
int run(int argc, char** argv);

}  // namespace cairn::hook
