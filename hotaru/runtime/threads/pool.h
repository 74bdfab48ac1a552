// The pool's algorithm without its threads: offering and taking chunks and
// tasks, sleeping and waking. Scheduler runs it on std::atomic; the model
// checker's tests (tests/model) run the same code on simulated memory.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "hotaru/runtime/threads/parking.h"
#include "hotaru/runtime/threads/region_slot.h"
#include "hotaru/runtime/threads/task_queue.h"

namespace hotaru {

/// Traits gives
///   Atomic<T>, Plain<T>, Mutex   as std::atomic<T>, T and std::mutex
///   Region, run_chunk(Region&, int64_t chunk, bool stolen)
///   Task, next(Task&) -> Plain<Task*>&, run_task(Task&)
///   in_task() -> bool&           of the calling thread
///   spin_until(Spin, done)       polls a while; whether done() held
///   kJoin, kWait                 how long a caller and a waiter poll
/// Nothing here throws; neither may run_chunk and run_task.
template <class Traits>
class Pool {
 public:
  using Region = typename Traits::Region;
  using Task = typename Traits::Task;
  using Slot = RegionSlot<Traits>;

  /// Chunks of regions are stolen only while fewer than `width` threads are in
  /// regions, callers included: where as many threads call as there are cores,
  /// each runs its own chunks and no worker takes a core from a caller.
  Pool(int task_limit, int width) : tasks_(task_limit), width_(width) {}

  /// A place to offer regions on, or nullptr if all are taken.
  Slot* acquire_slot() {
    uint64_t used = used_slots_.load();
    while (~used << (64 - kSlots) != 0) {
      const int index = std::countr_one(used);
      if (used_slots_.compare_exchange_weak(used, used | uint64_t{1} << index))
        return &slots_[index];
    }
    return nullptr;
  }

  void release_slot(Slot* slot) {
    used_slots_.fetch_and(~(uint64_t{1} << (slot - slots_.data())));
  }

  /// Runs the region's chunks, chunk 0 first and in this thread, the others
  /// here or wherever they are claimed; returns when all have ended. nested:
  /// the caller itself runs a chunk.
  void fork_join(Slot& slot, Region& region, int64_t chunks, bool nested) {
    const int others = active_.fetch_add(nested ? 0 : 1) - (nested ? 1 : 0);
    bool counts = !nested;
    slot.offer(region, chunks);
    const int idle = width() - 1 - others;
    wake(chunks - 1 < idle ? chunks - 1 : idle);
    Traits::run_chunk(region, 0, false);
    auto stolen = uint32_t(chunks - 1);
    for (int64_t chunk; (chunk = slot.claim()) >= 0; --stolen)
      Traits::run_chunk(region, chunk, false);
    auto done = [&] { return slot.finished(stolen); };
    if (stolen > 0 && !Traits::spin_until(Traits::kJoin, done)) {
      if (counts) active_.fetch_sub(1);  // its core is free meanwhile
      counts = false;
      slot.sleep_until_finished(stolen);
    }
    if (counts) active_.fetch_sub(1);
  }

  void launch(Task& task) {
    tasks_.push(task);
    wake(1);
  }

  /// Looks for a chunk or a task while `spin` lasts and stop() does not hold,
  /// and runs it. False if it found none.
  ///
  /// Whoever makes work wakes nobody while a thread searches; so the last to
  /// end its search sees to it that work it did not take has somebody.
  template <class Spin, class Stop>
  bool search(Spin spin, const Stop& stop) {
    Claim claim;
    searching_.fetch_add(1);
    Traits::spin_until(spin, [&] { return stop() || take(claim); });
    const bool last = searching_.fetch_sub(1) == 1;
    if (last && has_work()) wake(1);
    return run(claim);
  }

  /// Worker: sleeps until there may be work or, after wake_workers(), stop()
  /// may hold.
  template <class Stop>
  void park(const Stop& stop) {
    idle_.park([&] { return stop() || has_work(); });
  }

  /// Returns once stop() holds; runs work meanwhile, sleeps if there is none.
  template <class Stop>
  void wait_until(const Stop& stop) {
    if (stop()) return;
    bool& in_task = Traits::in_task();
    const bool suspends = in_task;
    in_task = false;
    if (suspends && tasks_.leave()) wake(1);
    bool slept = false;
    while (!stop()) {
      if (search(Traits::kWait, stop) || stop()) continue;
      waiting_.park([&] { return stop() || has_work(); });
      slept = true;
    }
    // Perhaps it was woken for the sake of work, which it leaves behind.
    if (slept && has_work()) wake(1);
    if (suspends) tasks_.reenter();
    in_task = suspends;
  }

  /// Lets threads in wait_until() look at their stop() again.
  void notify() { waiting_.wake_all(); }
  /// The same for workers in park().
  void wake_workers() { idle_.wake_all(); }

  /// True if there is a chunk or a task to take.
  bool has_work() const {
    for (uint64_t left = used_slots_.load(); left != 0; left &= left - 1) {
      if (!slots_[std::countr_zero(left)].has_chunks()) continue;
      if (may_steal()) return true;
      break;
    }
    return tasks_.can_pop();
  }

  bool has_tasks() const { return tasks_.has_tasks(); }
  int running_tasks() const { return tasks_.running(); }
  /// Threads in regions now.
  int active() const { return active_.load(std::memory_order_relaxed); }
  int width() const { return width_.load(std::memory_order_relaxed); }
  /// A thread waits for the core on which it will be in regions, or no longer
  /// does: it counts as being in one, so that no worker takes that core.
  void count_waiting(int change) { active_.fetch_add(change); }
  void set_width(int width) { width_.store(width); }

  int task_limit() const { return tasks_.limit(); }
  void set_task_limit(int limit) {
    tasks_.set_limit(limit);
    idle_.wake_all();
    waiting_.wake_all();
  }

 private:
  static constexpr int kSlots = Traits::kSlots;

  bool may_steal() const { return active_.load() < width(); }

  /// Find of a search: a chunk of the slot's region, or a task.
  struct Claim {
    Slot* slot = nullptr;
    int64_t chunk = 0;
    Task* task = nullptr;
  };

  bool take(Claim& claim) {
    return steal(claim) || (claim.task = tasks_.pop());
  }

  /// Looks at active_ last: callers write it for every region, and whoever
  /// searches would take its line from them each time.
  bool steal(Claim& claim) {
    for (uint64_t left = used_slots_.load(std::memory_order_acquire); left != 0;
         left &= left - 1) {
      Slot& slot = slots_[std::countr_zero(left)];
      if (!slot.has_chunks()) continue;
      if (!may_steal()) return false;
      claim.chunk = slot.claim();
      if (claim.chunk < 0) continue;
      claim.slot = &slot;
      return true;
    }
    return false;
  }

  bool run(const Claim& claim) {
    if (claim.slot) {
      active_.fetch_add(1);
      Traits::run_chunk(claim.slot->region(), claim.chunk, true);
      active_.fetch_sub(1);
      claim.slot->finish();
    } else if (claim.task) {
      bool& in_task = Traits::in_task();
      const bool before = in_task;
      in_task = true;
      Traits::run_task(*claim.task);
      in_task = before;
      if (tasks_.leave()) wake(1);
    }
    return claim.slot || claim.task;
  }

  /// After work for `count` threads was published: wakes sleepers beyond the
  /// threads that search already, workers first.
  void wake(int64_t count) {
    if (!idle_.has_sleepers() && !waiting_.has_sleepers()) return;
    count -= searching_.load();
    if (count > 0) count -= idle_.wake(count);
    if (count > 0) waiting_.wake(count);
  }

  std::array<Slot, kSlots> slots_;
  alignas(64) typename Traits::template Atomic<uint64_t> used_slots_{0};
  alignas(64) typename Traits::template Atomic<int> active_{0};
  // Threads that look for work now.
  alignas(64) typename Traits::template Atomic<int> searching_{0};
  alignas(64) Parking<Traits> idle_;     // workers without work
  alignas(64) Parking<Traits> waiting_;  // threads in wait_until()
  alignas(64) TaskQueue<Traits> tasks_;
  typename Traits::template Atomic<int> width_;
};

}  // namespace hotaru
