// How threads sleep until there may be work, without missing any.
#pragma once

#include <atomic>
#include <cstdint>

namespace hotaru {

/// Sleepers announce themselves first and look for work second; whoever makes
/// work publishes it first and looks for sleepers second. So one of both sees
/// the other. (An event count: Vyukov, "Eventcount", 1024cores.net.)
///
/// Traits names the atomics (see pool.h).
template <class Traits>
class Parking {
 public:
  /// Sleeps until a wake() that comes after ready() was looked at; not at all
  /// if ready() holds. May return early.
  template <class Ready>
  void park(const Ready& ready) {
    const uint32_t epoch = epoch_.load(std::memory_order_acquire);
    sleepers_.fetch_add(1);
    if (!ready()) epoch_.wait(epoch);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

  /// After such a write as wake() asks for.
  bool has_sleepers() const { return sleepers_.load() > 0; }

  /// After a sequentially consistent write of what park()'s ready() reads:
  /// wakes as many sleepers, if there are any; returns how many there were, at
  /// most `count`. One load if there are none.
  int64_t wake(int64_t count) {
    const int64_t sleepers = sleepers_.load();
    if (sleepers > 0) wake_now(count);
    return sleepers < count ? sleepers : count;
  }

  /// The same for all sleepers, after a write of any memory order.
  void wake_all() {
    // Read by an operation that writes: the sleeper's own one either comes
    // before and is seen, or after and then sees what was written before this.
    const int sleepers = sleepers_.fetch_add(0);
    if (sleepers > 0) wake_now(sleepers);
  }

 private:
  void wake_now(int64_t count) {
    epoch_.fetch_add(1);
    if (count >= sleepers_.load(std::memory_order_relaxed))
      epoch_.notify_all();
    else
      for (; count > 0; --count) epoch_.notify_one();
  }

  typename Traits::template Atomic<int> sleepers_{0};
  typename Traits::template Atomic<uint32_t> epoch_{0};
};

}  // namespace hotaru
