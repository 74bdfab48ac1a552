// Launched tasks that wait for a thread, first in, first out.
#pragma once

#include <atomic>
#include <mutex>

namespace hotaru {

/// At most `limit` tasks run at a time; one that waits for another does not
/// count meanwhile, so that a limit of one cannot lock the program up.
/// Tasks are linked through their own memory: pushing allocates nothing.
///
/// Traits names atomics, mutex and task type (see pool.h).
template <class Traits>
class TaskQueue {
 public:
  using Task = typename Traits::Task;

  explicit TaskQueue(int limit) : limit_(limit) {}

  void push(Task& task) {
    std::lock_guard lock(mutex_);
    Traits::next(task) = nullptr;
    if (Task* last = last_)
      Traits::next(*last) = &task;
    else
      first_ = &task;
    last_ = &task;
    queued_.fetch_add(1);
  }

  /// True if pop() may give a task. Sequentially consistent: see Parking.
  bool can_pop() const {
    return queued_.load() > 0 && running_.load() < limit_.load();
  }

  /// A task that now counts as running; nullptr if there is none or the limit
  /// is reached.
  Task* pop() {
    if (!can_pop()) return nullptr;
    std::lock_guard lock(mutex_);
    Task* task = first_;
    if (task == nullptr || running_.load() >= limit_.load()) return nullptr;
    running_.fetch_add(1);
    queued_.fetch_sub(1);
    first_ = Traits::next(*task);
    if (first_ == nullptr) last_ = nullptr;
    return task;
  }

  /// A task ended or begins to wait. True if a sleeper should be woken: the
  /// caller may go away without looking for more work.
  bool leave() {
    running_.fetch_sub(1);
    return can_pop();
  }

  /// A task that waited goes on; it does not queue again for that.
  void reenter() { running_.fetch_add(1); }

  /// True if a task waits for its turn, at this moment.
  bool has_tasks() const { return queued_.load(std::memory_order_relaxed) > 0; }
  int running() const { return running_.load(std::memory_order_relaxed); }
  int limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(int limit) { limit_.store(limit); }

 private:
  typename Traits::template Atomic<int> queued_{0};
  typename Traits::template Atomic<int> running_{0};
  typename Traits::template Atomic<int> limit_;
  typename Traits::Mutex mutex_;  // guards the list
  typename Traits::template Plain<Task*> first_{nullptr};
  typename Traits::template Plain<Task*> last_{nullptr};
};

}  // namespace hotaru
