// A thread as the system knows it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace hotaru::platform {

/// The number by which the system, and its tools, know the calling thread.
int thread_id();

/// Gives the calling thread a name of at most 15 characters, for debuggers.
void name_this_thread(const char* name);

/// While it lives, threads that this one starts take no signals: those belong
/// to the application's threads.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  std::array<unsigned long, 128 / sizeof(unsigned long)> before_{};
};

struct StackBounds {
  uintptr_t lowest = 0;
  uintptr_t end = 0;  // 0: unknown
};
/// Memory of the calling thread's stack, which grows down.
StackBounds this_thread_stack();

/// Processor time that a thread has used, for other threads to read while it
/// lives.
class ThreadClock {
 public:
  static ThreadClock of_this_thread();
  /// Since some moment. Where the system does not tell it is time that passes,
  /// so that the thread never seems to wait.
  std::chrono::nanoseconds used() const;

 private:
  int clock_ = 0;
};

}  // namespace hotaru::platform
