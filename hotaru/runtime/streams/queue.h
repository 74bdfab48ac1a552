// A queued CPU stream: calls that workers of the pool run one after another,
// while other streams run beside it.
#pragma once

#include <chrono>
#include <mutex>
#include <vector>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/memory/pool.h"
#include "hotaru/runtime/streams/event.h"
#include "hotaru/runtime/streams/late_call.h"
#include "hotaru/runtime/streams/stream.h"
#include "hotaru/runtime/threads/scheduler.h"

namespace hotaru {

/// Mark that an event on the CPU leaves: the time when its queue arrived, and
/// the queue's error.
struct CpuMark final : Mark {
  using Clock = std::chrono::steady_clock;

  std::exception_ptr error() const override { return met; }
  double milliseconds_to(const Mark& end) const override;

  /// Written by the queue when it arrives.
  std::atomic<Clock::rep> time{0};
  std::exception_ptr met;
};

/// Not a thread: while it has calls whose turn it is, it is a task of the
/// scheduler's, and a queue that waits for another one is no task at all.
/// Holds at most kMaxPending calls; then enqueueing waits, and helps. Of calls
/// that ran it may keep kMaxRetired until the next call or wait, with their
/// operands if those are small, and none when the last stream is gone.
class StreamQueue final : public Timeline, private Task {
 public:
  static constexpr uint64_t kMaxPending = 1 << 14;
  static constexpr int kMaxRetired = 1 << 10;
  static constexpr uint64_t kSweepEvery = 32;  // calls
  static constexpr size_t kSmallBytes = 1 << 12;
  static constexpr size_t kMaxDeferred = size_t{1} << 25;

  StreamQueue();
  ~StreamQueue() override;

  void take(const KernelCall& call);
  void record(Event& event);
  void wait(const Event& event);
  void synchronize();
  bool query();
  /// All but small tensors, whose memory the enqueuing thread has at hand, and
  /// very large ones, for which there may be none.
  static bool defers(size_t nbytes) {
    return nbytes > BlockPool::kBlock && nbytes <= kMaxDeferred;
  }
  int64_t id() const { return reinterpret_cast<intptr_t>(this); }
  /// No stream leads here any more: keeps no calls that ran, whose operands may
  /// lead back to the queue.
  void orphan();

  bool done(uint64_t number) override {
    return completed_.load(std::memory_order_seq_cst) >= number;
  }
  /// Helps with queued work meanwhile.
  void wait_for(uint64_t number) override;
  bool resume_at(uint64_t number, StreamQueue* waiter) override;
  /// Puts it back among the scheduler's tasks, when what it waited for has run.
  void resume() { scheduler_->launch(*this); }
  /// All queues there are; the registry's lock held.
  static std::vector<Ref<StreamQueue>> living();

 private:
  friend Ref<LateCall> end_later(const KernelCall& call);
  class Late;
  struct Entry;
  static Entry* idle() { return reinterpret_cast<Entry*>(1); }

  void run() override;
  /// Waits until a call more may be kept.
  void make_room();
  /// The ordering lock held.
  void push(Entry* entry);
  /// The next entry, or null, when the queue stops being a task.
  Entry* front();
  /// Hangs the queue on one that it has to wait for; false if on none.
  bool suspended(Entry& entry);
  /// False if its call ends later: see late_call.h.
  bool execute(Entry& entry);
  /// Writes down how the call ended.
  void conclude(Entry& entry, std::exception_ptr error);
  /// In whichever thread ends it: goes on behind the first entry.
  void end_late(Entry& entry, std::exception_ptr error);
  void finish(Entry* entry);
  /// Gives the entry back to whoever enqueues, or frees it.
  void retire(Entry* entry);
  /// Frees entries that were given back.
  void sweep();
  void fail(std::exception_ptr error);
  static void before_fork();
  static void after_fork();
  static void in_child();

  // Counters that threads that enqueue write.
  alignas(64) std::atomic<uint64_t> issued_{0};
  std::atomic<uint64_t> seen_{0};  // what was completed when last looked
  // New entries, newest first; idle() while the queue is no task. The task
  // takes all at once, so that the two sides seldom touch the same memory.
  alignas(64) std::atomic<Entry*> incoming_;
  // Members that the task writes.
  alignas(64) Entry* pending_ = nullptr;  // oldest first
  std::atomic<uint64_t> completed_{0};
  // Entries that ran. Freed by the thread that made them: memory that comes and
  // goes on different threads contends for the allocator's lock.
  std::atomic<Entry*> retired_{nullptr};
  std::atomic<int> retired_count_{0};
  // Members that are seldom written.
  alignas(64) std::atomic<bool> orphaned_{false};
  std::atomic<int> waiting_{0};  // how many; written before completed_ is read
  mutable std::mutex mutex_;     // guards the next two
  std::exception_ptr error_;     // the first since the last synchronisation
  struct Waiter {
    uint64_t number;
    StreamQueue* queue;  // null: a thread that parks
  };
  std::vector<Waiter> waiters_;

  Scheduler* scheduler_;             // the one before a fork() differs
  StreamQueue* previous_ = nullptr;  // in the list of all queues
  StreamQueue* next_ = nullptr;
};

}  // namespace hotaru
