// The process's only pool of threads. Two kinds of work share its workers:
// fork-join regions, whose chunks idle workers steal from the calling thread,
// and launched tasks. Workers start when first needed, spin briefly when out of
// work and then sleep without using CPU time.
//
// Programs use it through launch(), Completion and parallel.h; Scheduler itself
// is for runtimes that bring their own tasks (streams, interpreters).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace hotaru {

class Admission;

/// A unit of launched work. The launcher keeps it alive until run() starts;
/// run() may destroy it. Exceptions that leave run() are dropped, as ATen's
/// pool does: a task that can fail stores its error where its waiter looks.
class Task {
 public:
  virtual ~Task() = default;
  virtual void run() = 0;

 private:
  friend struct PoolTraits;
  friend class Scheduler;
  Task* next_ = nullptr;
  int launcher_ = -1;  // the processor that launch() was called on
};

/// Thread-safe; one per process, see instance(). After fork() the child has a
/// fresh one with the same counts and without the parent's queued tasks.
class Scheduler {
 public:
  using ChunkFn = void (*)(void* context, int64_t chunk);

  /// Limit of num_threads, and so of the chunks in one region.
  static constexpr int kMaxThreads = 0xffff;

  static Scheduler& instance();

  /// Calls fn(context, i) once for each i in [0, chunks), chunk 0 first in the
  /// calling thread; returns when all have finished and rethrows the first
  /// exception. chunks <= kMaxThreads. While fn runs, in_parallel_region() is
  /// true and get_thread_num() is i.
  void run_chunks(int64_t chunks, ChunkFn fn, void* context);

  /// Queues a task (first in, first out). It runs outside of any region, on a
  /// worker or in a thread that waits; at most num_interop_threads() tasks run
  /// at a time, not counting those that wait. Allocates nothing. Throws, and
  /// has queued nothing, where the system has no thread for a first worker.
  void launch(Task& task);
  /// The same error early: a launch() that follows has a worker.
  void prepare_launch();

  /// Returns once stop() holds, running queued work meanwhile and sleeping when
  /// there is none. Whoever makes stop() true calls notify() afterwards. stop()
  /// must not throw nor wait; work that runs here must not need a lock that the
  /// caller holds.
  template <class Stop>
  void wait_until(const Stop& stop) {
    wait_until(
        [](const void* s) -> bool { return (*static_cast<const Stop*>(s))(); },
        &stop);
  }

  /// True if a launched task waits for its turn: a long task may end and launch
  /// itself again.
  bool has_tasks() const;

  /// For a task that may get more to do: waits until stop() holds, awake but no
  /// longer than a few microseconds, nor when other work is there. Looks
  /// seldom, so that whoever writes what stop() reads keeps it in its cache.
  template <class Stop>
  void linger(const Stop& stop) const {
    for (int i = 0; i < kLooks && !stop() && !has_work(); ++i) pause_awhile();
  }

  /// Lets every wait_until() look at its stop() again, whatever was written
  /// before this call. One atomic operation when nobody sleeps.
  void notify();

  /// Threads that one region may use, its caller included.
  int num_threads() const;

  /// Takes effect for the next region; surplus workers end. Throws Error
  /// unless 0 < count. More than kMaxThreads counts as kMaxThreads.
  void set_num_threads(int count);

  /// Launched tasks that may run at a time. Initially the cores that this
  /// process may use.
  int num_interop_threads() const;

  /// PyTorch's rule: once, and before the first launch(), or else Error. With
  /// force at any time: a smaller number holds back further tasks and stops
  /// none. Throws Error unless 0 < count.
  void set_num_interop_threads(int count, bool force = false);

  /// Where whole calls wait for their turn.
  Admission& admission() { return *admission_; }
  /// One more caller waits there (1), or one less (-1): workers leave it the
  /// core.
  void count_waiting_callers(int change);

  /// Worker threads alive now: at most num_threads - 1, or from the
  /// first launch() on min(num_interop_threads, cores) if that is more.
  int num_workers() const;

  /// Workers that run launched tasks now, the calling thread not counted.
  int num_busy_workers() const;

 private:
  friend struct ThreadSlot;
  struct Core;

  // An absurd num_threads must not take all the system's threads.
  static constexpr int kMaxWorkers = 1024;

  Scheduler(int num_threads, int task_limit, bool limit_was_set);
  static Scheduler& create();
  static void replace_in_child();

  static constexpr int kLooks = 8;
  static void pause_awhile();
  /// True if a chunk or a task waits for a worker.
  bool has_work() const;

  void ensure_workers(int wanted);
  void worker_main(int index);
  bool retire(int index);
  int worker_limit() const;
  /// A type-erased stop(), so that waiting itself is compiled once.
  using StopFn = bool (*)(const void* stop);
  void wait_until(StopFn stop, const void* context);

  const int cores_;
  const std::unique_ptr<Core> core_;
  const std::unique_ptr<Admission> admission_;
  std::atomic<bool> launched_{false};
  std::atomic<int> num_threads_;
  std::atomic<int> workers_{0};
  std::mutex mutex_;         // guards the starting and ending of workers
  bool task_limit_was_set_;  // by mutex_
};

/// A one-shot signal between tasks and threads. Whoever waits runs queued work
/// meanwhile, so waiting inside a task cannot starve the pool.
class Completion {
 public:
  bool is_set() const { return set_.load(std::memory_order_acquire); }
  /// Makes writes before it visible to whoever sees is_set() or leaves wait().
  /// The Completion must outlive the call.
  void set();
  void wait();

 private:
  std::atomic<bool> set_{false};
};

/// Launches a copy of a callable: launch([=] { ... }).
template <class F>
void launch(F&& f) {
  struct Owned final : Task {
    explicit Owned(F&& f) : f_(std::forward<F>(f)) {}
    void run() override {
      struct Delete {
        Owned* self;
        ~Delete() { delete self; }
      } at_end{this};
      f_();
    }
    std::decay_t<F> f_;
  };
  Scheduler& scheduler = Scheduler::instance();
  scheduler.prepare_launch();
  scheduler.launch(*new Owned(std::forward<F>(f)));
}

}  // namespace hotaru
