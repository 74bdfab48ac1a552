#include "hotaru/platform/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace hotaru::platform {

bool futex_wait(const std::atomic<uint32_t>& word, uint32_t seen,
                std::chrono::nanoseconds time) {
  static_assert(sizeof(word) == sizeof(uint32_t));
  constexpr int64_t kSecond = 1'000'000'000;
  const timespec limit{time_t(time.count() / kSecond),
                       long(time.count() % kSecond)};
  return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &limit, nullptr,
                 0) == 0 ||
         errno != ETIMEDOUT;
}

void futex_wake_one(const std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace hotaru::platform
