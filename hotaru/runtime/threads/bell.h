// Bell that a thread sleeps on and others ring by name, for at most some time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace hotaru::detail {

/// One thread waits, any other rings. Ringing touches the bell's memory only
/// before the waiting thread can go on; what follows names its address alone,
/// so that it may be gone by then, as long as it was never unmapped.
class Bell {
 public:
  Bell() = default;
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  /// Number to give to wait(), to be asked for before looking at what a ring
  /// would tell of.
  uint32_t rings() const { return rings_.load(std::memory_order_acquire); }
  /// Sleeps until a ring after `seen`; not at all if there was one. May return
  /// early. False if the time passed.
  bool wait(uint32_t seen, std::chrono::nanoseconds time);

  /// In two steps, of which the second may come when locks are released.
  void announce();
  /// `bell` may have ended meanwhile.
  static void wake(Bell* bell);

 private:
  std::atomic<uint32_t> rings_{0};
};

}  // namespace hotaru::detail
