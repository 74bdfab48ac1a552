// The pool's Traits (hotaru/runtime/threads/pool.h) over Relacy's simulated
// memory: it tries interleavings and also the stale values that weak orders
// allow, and reports deadlocks, races on plain data and failed assertions.
#pragma once

// Relacy redefines new, malloc and the memory orders: all else comes first.
#include <chrono>
#include <iostream>
#include <mutex>

#include "hotaru/runtime/threads/pool.h"

// clang-format off
#include <relacy/relacy.hpp>
// clang-format on
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

namespace hotaru::model {

inline rl::memory_order order(std::memory_order o) {
  switch (o) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_consume:
    case std::memory_order_acquire:
      return rl::mo_acquire;
    case std::memory_order_release:
      return rl::mo_release;
    case std::memory_order_acq_rel:
      return rl::mo_acq_rel;
    default:
      return rl::mo_seq_cst;
  }
}

/// std::atomic's interface over a simulated atomic.
template <class T>
class Atomic {
  // Relacy's futex takes int.
  using Stored = std::conditional_t<sizeof(T) == 4, int, T>;
  static constexpr auto kSeqCst = std::memory_order_seq_cst;

 public:
  Atomic(T value) { atomic_($).store(Stored(value), rl::mo_relaxed); }

  T load(std::memory_order o = kSeqCst) const {
    return T(atomic_($).load(order(o)));
  }
  void store(T value, std::memory_order o = kSeqCst) {
    atomic_($).store(Stored(value), order(o));
  }
  T fetch_add(T value, std::memory_order o = kSeqCst) {
    return T(atomic_($).fetch_add(Stored(value), order(o)));
  }
  T fetch_sub(T value, std::memory_order o = kSeqCst) {
    return T(atomic_($).fetch_sub(Stored(value), order(o)));
  }
  T fetch_or(T value, std::memory_order o = kSeqCst) {
    return T(atomic_($).fetch_or(Stored(value), order(o)));
  }
  T fetch_and(T value, std::memory_order o = kSeqCst) {
    return T(atomic_($).fetch_and(Stored(value), order(o)));
  }
  bool compare_exchange_weak(T& seen, T value, std::memory_order success,
                             std::memory_order failure) {
    Stored expected = Stored(seen);
    const bool done = atomic_($).compare_exchange_weak(
        expected, Stored(value), order(success), order(failure));
    seen = T(expected);
    return done;
  }
  bool compare_exchange_weak(T& seen, T value) {
    return compare_exchange_weak(seen, value, kSeqCst, kSeqCst);
  }
  void wait(T old) {
    while (load(std::memory_order_acquire) == old) {
      rl::rl_futex(&atomic_, rl::RL_FUTEX_WAIT, Stored(old), nullptr, nullptr,
                   0, $);
    }
  }
  void notify_one() { wake(1); }
  void notify_all() { wake(1000); }

 private:
  void wake(int count) {
    rl::rl_futex(&atomic_, rl::RL_FUTEX_WAKE, count, nullptr, nullptr, 0, $);
  }
  mutable rl::atomic<Stored> atomic_;
};

/// Data without protection of its own: simultaneous use is reported.
template <class T>
class Plain {
 public:
  Plain(T value) { var_($).store(value); }
  Plain& operator=(T value) {
    var_($).store(value);
    return *this;
  }
  Plain& operator=(const Plain& other) { return *this = T(other); }
  operator T() const { return var_($).load(); }
  T operator->() const { return var_($).load(); }

 private:
  mutable rl::var<T> var_;
};

class Mutex {
 public:
  void lock() { mutex_.lock($); }
  void unlock() { mutex_.unlock($); }

 private:
  rl::mutex mutex_;
};

/// A region or task counts how often each of its parts ran.
struct Region {
  Plain<int> ran[3] = {0, 0, 0};
};

struct Task {
  virtual ~Task() = default;
  virtual void run() = 0;
  Plain<Task*> next{nullptr};
};

struct Traits {
  template <class T>
  using Atomic = model::Atomic<T>;
  template <class T>
  using Plain = model::Plain<T>;
  using Mutex = model::Mutex;
  using Region = model::Region;
  using Task = model::Task;

  static constexpr int kSlots = 2;
  static constexpr int kJoin = 0;
  static constexpr int kWait = 0;

  static void run_chunk(Region& region, int64_t chunk, bool) {
    region.ran[chunk] = region.ran[chunk] + 1;
  }
  static Plain<Task*>& next(Task& task) { return task.next; }
  static void run_task(Task& task) { task.run(); }
  static bool& in_task() { return tasks_flag[rl::ctx().threadx_->index_]; }
  /// A look, not a wait: the model's threads have no clock.
  template <class Done>
  static bool spin_until(int, const Done& done) {
    return done();
  }

  static inline bool tasks_flag[8] = {};
};

}  // namespace hotaru::model
