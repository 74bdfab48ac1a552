#include "hotaru/runtime/threads/bell.h"

#include "hotaru/platform/futex.h"

namespace hotaru::detail {

bool Bell::wait(uint32_t seen, std::chrono::nanoseconds time) {
  return platform::futex_wait(rings_, seen, time);
}

void Bell::announce() {
  rings_.fetch_add(1, std::memory_order_release);
}

void Bell::wake(Bell* bell) {
  platform::futex_wake_one(&bell->rings_);
}

}  // namespace hotaru::detail
