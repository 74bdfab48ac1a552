#include "hotaru/platform/thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace hotaru::platform {

int thread_id() {
  return int(syscall(SYS_gettid));
}

void name_this_thread(const char* name) {
  pthread_setname_np(pthread_self(), name);
}

SignalsBlocked::SignalsBlocked() {
  static_assert(sizeof(sigset_t) <= sizeof(before_));
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all,
                  reinterpret_cast<sigset_t*>(before_.data()));
}

SignalsBlocked::~SignalsBlocked() {
  pthread_sigmask(SIG_SETMASK,
                  reinterpret_cast<const sigset_t*>(before_.data()), nullptr);
}

#if !defined(__GLIBC__)
namespace {

constexpr size_t kLargeStack = size_t{8} << 20;  // what glibc gives

/// Asks for large stacks where musl gives 128 KiB: a program of some depth
/// would write beyond. Musl takes no less than before.
int ask_for_large_stacks() {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return 0;
  if (pthread_attr_setstacksize(&attributes, kLargeStack) == 0) {
    pthread_setattr_default_np(&attributes);
  }
  pthread_attr_destroy(&attributes);
  return 0;
}

[[maybe_unused]] const int large_stacks = ask_for_large_stacks();

/// How far the process's first stack may grow. Musl tells how far it has.
size_t limit_of_first_stack() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return 0;
  return limit.rlim_cur == RLIM_INFINITY ? kLargeStack : limit.rlim_cur;
}

}  // namespace
#endif

StackBounds this_thread_stack() {
  StackBounds out;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return out;
  void* lowest = nullptr;
  size_t size = 0;
  if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
    out.lowest = reinterpret_cast<uintptr_t>(lowest);
    out.end = out.lowest + size;
#if !defined(__GLIBC__)
    if (thread_id() == getpid()) {
      out.lowest = out.end - std::max(size, limit_of_first_stack());
    }
#endif
  }
  pthread_attr_destroy(&attributes);
  return out;
}

ThreadClock ThreadClock::of_this_thread() {
  static_assert(sizeof(clockid_t) == sizeof(int));
  ThreadClock out;
  clockid_t clock{};
  out.clock_ = pthread_getcpuclockid(pthread_self(), &clock) == 0
                   ? clock
                   : CLOCK_MONOTONIC;
  return out;
}

std::chrono::nanoseconds ThreadClock::used() const {
  timespec t{};
  if (clock_gettime(clock_, &t) != 0) return {};
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace hotaru::platform
