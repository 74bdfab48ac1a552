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

void Bell::announce() {
  rings_.fetch_add(1, std::memory_order_release);
}

void Bell::wake(Bell* bell) {
  syscall(SYS_futex, &bell->rings_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace hotaru::detail

#else  // elsewhere both steps are the first one

namespace hotaru::detail {

bool Bell::wait(uint32_t seen, std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  return rang_.wait_for(lock, time, [&] { return rings() != seen; });
}

void Bell::announce() {
  const std::lock_guard lock(mutex_);
  rings_.fetch_add(1, std::memory_order_release);
  rang_.notify_one();
}

void Bell::wake(Bell*) {}

}  // namespace hotaru::detail

#endif
