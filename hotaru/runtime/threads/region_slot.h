// How idle threads take chunks from a fork-join region without a lock.
#pragma once

#include <atomic>
#include <cstdint>

namespace hotaru {

/// A calling thread's notice board. The owner offers the chunks of one region
/// after the other; any thread may claim some. It must live as long as threads
/// may look at it, which is why regions themselves, on their callers' stacks,
/// are reached only through a claim: until a claimed chunk is finished the
/// owner cannot leave.
///
/// Traits names the atomics (see pool.h), so that a model checker can run this
/// very code.
template <class Traits>
class alignas(64) RegionSlot {
 public:
  using Region = typename Traits::Region;
  static constexpr int64_t kMaxChunks = 0xffff;

  /// Owner: offers chunks 1 ... chunks - 1; chunk 0 is its own.
  void offer(Region& region, int64_t chunks) {
    region_ = &region;
    finished_.store(0, std::memory_order_relaxed);
    ticket_.store(uint32_t(chunks) << 16 | 1);
  }

  /// Takes the next chunk; -1 if none is left. A thread that fell asleep in
  /// here and meets a later region claims a chunk of that one.
  int64_t claim() {
    uint32_t seen = ticket_.load(std::memory_order_acquire);
    while (next_of(seen) < chunks_of(seen))
      if (ticket_.compare_exchange_weak(seen, seen + 1,
                                        std::memory_order_acq_rel,
                                        std::memory_order_acquire))
        return next_of(seen);
    return -1;
  }

  /// True if a claim may succeed. Sequentially consistent: see Parking.
  bool has_chunks() const {
    const uint32_t seen = ticket_.load();
    return next_of(seen) < chunks_of(seen);
  }

  /// Thief, between claim() and finish().
  Region& region() const { return *region_; }

  /// Thief: the claimed chunk ended. The owner may leave from here on.
  void finish() {
    if (finished_.fetch_add(1, std::memory_order_acq_rel) & kOwnerSleeps)
      finished_.notify_all();
  }

  /// Owner: whether thieves have finished as many chunks.
  bool finished(uint32_t stolen) const {
    return finished_.load(std::memory_order_acquire) == stolen;
  }

  /// Owner: sleeps until they have.
  void sleep_until_finished(uint32_t stolen) {
    uint32_t seen = finished_.fetch_or(kOwnerSleeps, std::memory_order_acq_rel);
    for (seen |= kOwnerSleeps; seen != (stolen | kOwnerSleeps);
         seen = finished_.load(std::memory_order_acquire))
      finished_.wait(seen);
  }

 private:
  static constexpr uint32_t kOwnerSleeps = 1u << 31;

  static uint32_t chunks_of(uint32_t ticket) { return ticket >> 16; }
  static uint32_t next_of(uint32_t ticket) { return ticket & 0xffff; }

  typename Traits::template Atomic<uint32_t> ticket_{0};  // chunks | next
  typename Traits::template Plain<Region*> region_{nullptr};
  typename Traits::template Atomic<uint32_t> finished_{0};
};

}  // namespace hotaru
