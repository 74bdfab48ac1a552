// A queued CPU stream: calls that workers of the pool run one after another,
// while other streams run beside it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "hotaru/runtime/event.h"
#include "hotaru/runtime/scheduler.h"
#include "hotaru/runtime/stream.h"

namespace hotaru {

class StreamQueue;

/// The n-th entry of a queue.
struct Ticket {
  Ref<StreamQueue> queue;
  uint64_t number = 0;
  bool done() const;
};

/// Not a thread: while it has calls whose turn it is, it is a task of the
/// scheduler's, and a queue that waits for another one is no task at all.
/// Holds at most kMaxPending calls; then enqueueing waits, and helps.
class StreamQueue final : public CallSink, private Task {
 public:
  static constexpr uint64_t kMaxPending = 1 << 14;

  StreamQueue();
  ~StreamQueue() override;

  void take(const KernelCall& call) override;
  void record(Event& event) override;
  void wait(const Event& event) override;
  void synchronize() override;
  bool query() const override;

  bool done(uint64_t number) const {
    return completed_.load(std::memory_order_seq_cst) >= number;
  }
  /// Returns when the n-th entry has run. Helps with queued work meanwhile.
  void wait_for(uint64_t number);
  /// All queues there are; the registry's lock held.
  static std::vector<Ref<StreamQueue>> living();

 private:
  struct Entry;

  void run() override;
  void push(Entry* entry);
  /// The next entry, or null, when the queue stops being a task.
  Entry* front();
  /// Hangs the queue on one that it has to wait for; false if on none.
  bool suspended(Entry& entry);
  /// Notes who goes on when the n-th entry has run: a queue, or, if null, a
  /// thread of the host's. False if it has.
  bool resume_at(uint64_t number, StreamQueue* waiter);
  void execute(Entry& entry);
  void finish(Entry* entry);
  void fail(std::exception_ptr error);
  static void before_fork();
  static void after_fork();
  static void in_child();

  mutable std::mutex mutex_;  // guards what follows
  Entry* first_ = nullptr;
  Entry* last_ = nullptr;
  bool scheduled_ = false;
  std::exception_ptr error_;  // the first since the last synchronisation
  struct Waiter {
    uint64_t number;
    StreamQueue* queue;  // null: a thread that parks
  };
  std::vector<Waiter> waiters_;

  std::atomic<uint64_t> issued_{0};
  std::atomic<uint64_t> completed_{0};
  Scheduler* scheduler_;             // the one before a fork() differs
  StreamQueue* previous_ = nullptr;  // in the list of all queues
  StreamQueue* next_ = nullptr;
};

}  // namespace hotaru
