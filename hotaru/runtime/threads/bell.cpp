#include "hotaru/runtime/threads/bell.h"

#if defined(__linux__)

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace hotaru::detail {

bool Bell::wait(uint32_t seen, std::chrono::nanoseconds time) {
  static_assert(sizeof(rings_) == sizeof(uint32_t));
  constexpr int64_t kSecond = 1'000'000'000;
  const timespec limit{time_t(time.count() / kSecond),
                       long(time.count() % kSecond)};
  return syscall(SYS_futex, &rings_, FUTEX_WAIT_PRIVATE, seen, &limit, nullptr,
                 0) == 0 ||
         errno != ETIMEDOUT;
}

void Bell::wake(Bell* bell) {
  syscall(SYS_futex, &bell->rings_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace hotaru::detail

#else  // elsewhere it looks now and then

#include <algorithm>
#include <thread>

namespace hotaru::detail {

bool Bell::wait(uint32_t seen, std::chrono::nanoseconds time) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + time;
  while (rings() == seen) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(
        time, std::chrono::microseconds(50)));
  }
  return true;
}

void Bell::wake(Bell*) {}

}  // namespace hotaru::detail

#endif
