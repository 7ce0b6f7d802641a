// A crash told by the name of a file: the next process knows what the dead one was at, and that it died of
// itself. A process that is killed says nothing, nor does one whose memory the kernel takes or whose machine
// loses its power.
#pragma once

#include <string>

namespace cairn::os {

// While it lives, a fault of this thread (SIGSEGV, SIGBUS, SIGFPE, SIGILL, or its own abort) renames `from`
// to `to` before the process ends as it would have. Signals that others send do not. One a thread at a time;
// without watch_for_crashes() it does nothing.
class CrashMark {
 public:
  CrashMark(std::string from, std::string to);
  ~CrashMark();
  CrashMark(const CrashMark&) = delete;
  CrashMark& operator=(const CrashMark&) = delete;

 private:
  std::string from_, to_;
};

// Called once, before there are threads. Whoever handled these signals before handles them afterwards.
void watch_for_crashes();

}  // namespace cairn::os
