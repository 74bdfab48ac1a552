#include "hotaru/core/mutex.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/platform/fork.h"

namespace hotaru {

constinit std::atomic<uint32_t> detail::fork_count{0};

namespace {

[[maybe_unused]] const int registered =
    platform::at_fork(nullptr, nullptr, [] { ++detail::fork_count; });

/// Something of this thread alone.
const void* this_thread() {
  static thread_local const char mark = 0;
  return &mark;
}

}  // namespace

bool Mutex::try_lock() noexcept {
  uint32_t seen = word_.load(std::memory_order_relaxed);
  const bool lost = seen / kStates != word(kFree) / kStates;
  if (!lost && seen % kStates != kFree) return false;
  return word_.compare_exchange_strong(
      seen, word(kHeld), std::memory_order_acquire, std::memory_order_relaxed);
}

// U. Drepper, Futexes Are Tricky (2011), the mutex of three states; a word of
// another process counts as free.
bool Mutex::lock_slow(uint32_t seen) noexcept {
  const uint32_t free = word(kFree), held = word(kHeld),
                 waited_for = word(kWaitedFor);
  // Before anybody waits nobody needs to be woken.
  for (bool waited = false;;) {
    const bool lost = seen / kStates != free / kStates;
    if (lost || seen == free) {
      const uint32_t wanted = waited ? waited_for : held;
      if (word_.compare_exchange_weak(seen, wanted, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return lost && seen % kStates != kFree;
      continue;
    }
    if (seen == held && !word_.compare_exchange_weak(seen, waited_for,
                                                     std::memory_order_relaxed))
      continue;
    waited = true;
    word_.wait(waited_for, std::memory_order_relaxed);
    seen = word_.load(std::memory_order_relaxed);
  }
}

void RecursiveMutex::lock() {
  const void* const self = this_thread();
  if (owner_.load(std::memory_order_relaxed) == self) {
    ++depth_;
    return;
  }
  broken_ |= mutex_.lock();
  if (broken_) {
    mutex_.unlock();
    fail(
        "another thread was at work on this when the process forked, and the "
        "child has half of it; load it again here, or fork at another time");
  }
  owner_.store(self, std::memory_order_relaxed);
  depth_ = 1;
}

void RecursiveMutex::unlock() noexcept {
  if (--depth_) return;
  owner_.store(nullptr, std::memory_order_relaxed);
  mutex_.unlock();
}

}  // namespace hotaru
