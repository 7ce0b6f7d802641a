#include "os/crash.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

namespace cairn::os {

namespace {

constexpr std::array kFatal = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
std::array<struct sigaction, kFatal.size()> before;

// Read by the handler, in the thread that crashed.
thread_local const char* mark_from = nullptr;
thread_local const char* mark_to = nullptr;

// The kernel's own signals have positive codes; abort() sends one to its own thread.
bool is_own(int number, const siginfo_t& what) {
  return number == SIGABRT ? what.si_code == SI_TKILL && what.si_pid == getpid() : what.si_code > 0;
}

// Only async-signal-safe calls: no allocation, no lock. rename() is one.
//
// Restores the earlier handler. The faulting instruction runs again and abort() raises again; only a signal
// from outside must be sent once more.
void on_crash(int number, siginfo_t* what, void*) {
  const int error = errno;
  if (mark_from && is_own(number, *what)) std::rename(mark_from, mark_to);
  for (std::size_t i = 0; i < kFatal.size(); ++i)
    if (kFatal[i] == number) sigaction(number, &before[i], nullptr);
  if (what->si_code <= 0) raise(number);
  errno = error;
}

// The handler needs its own stack, because the thread's may have overflowed. Lives as long as the thread.
struct OtherStack {
  OtherStack() {
    stack_t stack{};
    stack.ss_sp = room.get();
    stack.ss_size = kSize;
    sigaltstack(&stack, nullptr);
  }
  ~OtherStack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  static constexpr std::size_t kSize = 64u << 10;
  std::unique_ptr<char[]> room{new char[kSize]};
};

}  // namespace

CrashMark::CrashMark(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {
  thread_local const OtherStack stack;  // constructed at the first mark of each thread
  // In this order: the handler takes mark_from as the sign that both are set.
  mark_to = to_.c_str();
  mark_from = from_.c_str();
}

CrashMark::~CrashMark() {
  mark_from = nullptr;
}

void watch_for_crashes() {
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t i = 0; i < kFatal.size(); ++i) sigaction(kFatal[i], &action, &before[i]);
}

}  // namespace cairn::os
