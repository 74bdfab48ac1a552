// Locks that survive fork(). A child has only the thread that forked, so what
// other threads of its parent held stays locked for ever in a std::mutex; here
// it is free again.
#pragma once

#include <atomic>
#include <cstdint>

namespace hotaru {

/// How many forks lie between this process and the one that loaded the
/// library: never the same in a child as in its parent.
uint32_t fork_count() noexcept;

/// As std::mutex, in four bytes. For data that bear being left halfway by a
/// thread that a fork lost: plain numbers, pointers, flags. Whoever guards more
/// asks lock() whether that happened, or takes the lock around forks. A thread
/// must not fork while it holds one itself.
class Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  /// True if it was taken from a thread that a fork lost.
  bool lock() noexcept {
    uint32_t seen = word(kFree);
    if (word_.compare_exchange_strong(seen, word(kHeld),
                                      std::memory_order_acquire,
                                      std::memory_order_relaxed)) [[likely]]
      return false;
    return lock_slow(seen);
  }
  bool try_lock() noexcept;
  void unlock() noexcept {
    const uint32_t before =
        word_.exchange(word(kFree), std::memory_order_release);
    if (before % kStates == kWaitedFor) [[unlikely]]
      word_.notify_one();
  }

 private:
  // The word says in which process it was written, times kStates, plus:
  enum State : uint32_t { kFree, kHeld, kWaitedFor, kStates = 4 };
  static uint32_t word(State state) noexcept {
    return fork_count() * kStates + state;
  }
  bool lock_slow(uint32_t seen) noexcept;

  std::atomic<uint32_t> word_{0};
};

/// A Mutex that its owner may lock again. What it guards may be of any kind: in
/// a child where a lost thread held it, lock() throws Error for good.
class RecursiveMutex {
 public:
  void lock();
  void unlock() noexcept;

 private:
  Mutex mutex_;
  std::atomic<const void*> owner_{nullptr};
  int depth_ = 0;
  bool broken_ = false;
};

namespace detail {
extern std::atomic<uint32_t> fork_count;
}

inline uint32_t fork_count() noexcept {
  return detail::fork_count.load(std::memory_order_relaxed);
}

}  // namespace hotaru
