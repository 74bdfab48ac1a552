// The process's only pool of threads. Two kinds of work share its workers:
// fork-join regions, whose chunks idle workers steal from the calling thread,
// and launched tasks. Workers start when first needed, never outnumber
// num_threads - 1 (one, if tasks were launched with num_threads == 1), spin
// briefly when out of work and then sleep without using CPU time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>

namespace hotaru {

/// A unit of launched work. The launcher keeps it alive until run() starts;
/// run() may destroy it. Exceptions that leave run() are dropped, as ATen's
/// pool does: a task that can fail stores its error where its waiter looks.
class Task {
 public:
  virtual ~Task() = default;
  virtual void run() = 0;

 private:
  friend class Scheduler;
  Task* next_ = nullptr;
};

/// Thread-safe; one per process, see instance(). After fork() the child has a
/// fresh one with the same num_threads and without the parent's queued tasks.
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
  /// worker or in a thread that waits for a Completion.
  void launch(Task& task);

  /// Returns once stop() holds, running queued work meanwhile and sleeping when
  /// there is none. Whoever makes stop() true calls notify() afterwards. stop()
  /// must not throw nor wait; work that runs here must not need a lock that the
  /// caller holds.
  template <class Stop>
  void wait_until(const Stop& stop);

  /// Lets every wait_until() look at its stop() again, whatever was written
  /// before this call. One atomic operation when nobody sleeps.
  void notify();

  /// Threads that one region may use, its caller included.
  int num_threads() const;

  /// Takes effect for the next region; surplus workers end. Throws Error
  /// unless 0 < count.
  void set_num_threads(int count);

  /// Worker threads alive now.
  int num_workers() const;

 private:
  friend struct ThreadSlot;
  struct Region;

  /// A calling thread's notice board. It lives as long as the scheduler, so a
  /// thief may look at it at any time; region is read only after a chunk was
  /// claimed, which keeps the owner from leaving.
  struct alignas(64) Slot {
    std::atomic<uint64_t> ticket{0};  // generation:32 | chunks:16 | next:16
    Region* region = nullptr;
    std::atomic<uint32_t> unfinished{0};
    std::atomic<int> processor{-1};  // the owner's when it posted
  };
  static constexpr int kSlots = 64;

  explicit Scheduler(int num_threads);
  static Scheduler& create();
  static void replace_in_child();

  Slot* acquire_slot();
  void release_slot(Slot* slot);
  void ensure_workers(int wanted);
  void worker_main(int index);
  bool retire(int index);
  int worker_limit() const;

  /// Claims and runs one chunk or task; false if there was none.
  bool run_something();
  bool run_task();
  /// A type-erased stop(), so that waiting itself is compiled once.
  using StopFn = bool (*)(const void* stop);
  void wait_until(StopFn stop, const void* context);
  /// Sleeps until new work may exist; returns at once if stop() holds.
  template <class Stop>
  void park(const Stop& stop);
  void wake(int64_t count);

  std::array<Slot, kSlots> slots_;
  alignas(64) std::atomic<uint64_t> used_slots_{0};
  std::atomic<int> queued_{0};
  std::atomic<bool> launched_{false};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<uint32_t> epoch_{0};
  std::atomic<int> num_threads_;
  std::atomic<int> workers_{0};
  std::mutex mutex_;  // guards the task list and the starting of workers
  Task* first_ = nullptr;
  Task* last_ = nullptr;
};

template <class Stop>
void Scheduler::wait_until(const Stop& stop) {
  wait_until(
      [](const void* s) -> bool { return (*static_cast<const Stop*>(s))(); },
      &stop);
}

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
  Scheduler::instance().launch(*new Owned(std::forward<F>(f)));
}

}  // namespace hotaru
