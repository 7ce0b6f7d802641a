// Records a crash in the name of a file, so that the next process knows what the dead one was working on, and
// that it crashed. A process that is killed or runs out of memory leaves no mark, nor does a power cut.
#pragma once

#include <string>

namespace cairn::os {

// While it exists, a fault of this thread (SIGSEGV, SIGBUS, SIGFPE, SIGILL, or its own abort) renames `from`
// to `to` before the process ends. Signals from other processes do not. At most one for each thread. Without
// watch_for_crashes() it does nothing.
class CrashMark {
 public:
  CrashMark(std::string from, std::string to);
  ~CrashMark();
  CrashMark(const CrashMark&) = delete;
  CrashMark& operator=(const CrashMark&) = delete;

 private:
  std::string from_, to_;
};

// Call once, before there are threads. Earlier handlers of these signals still run afterwards.
void watch_for_crashes();

}  // namespace cairn::os
