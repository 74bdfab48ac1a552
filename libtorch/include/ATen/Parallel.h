// Loops and tasks on the process's one pool of threads.
#pragma once

#include <functional>
#include <string>

#include "hotaru/runtime/threads/parallel.h"
#include "hotaru/runtime/threads/scheduler.h"

namespace at {

using hotaru::get_num_interop_threads;
using hotaru::get_num_threads;
using hotaru::get_thread_num;
using hotaru::in_parallel_region;
using hotaru::parallel_for;
using hotaru::parallel_reduce;

/// Threads one parallel loop may use; throws unless count > 0.
inline void set_num_threads(int count) {
  hotaru::set_num_threads(count);
}
/// Launched tasks that may run at a time: once, before the first.
inline void set_num_interop_threads(int count) {
  hotaru::set_num_interop_threads(count);
}
/// Nothing: the pool starts its threads when they are first needed.
inline void init_num_threads() {}
inline void lazy_init_num_threads() {}

inline std::string get_parallel_info() {
  return hotaru::parallel_info();
}

/// Runs f on the pool, some time.
inline void launch(std::function<void()> f) {
  hotaru::launch(std::move(f));
}
/// The same: there is one pool for both kinds of work.
inline void intraop_launch(const std::function<void()>& f) {
  hotaru::launch(f);
}

inline int64_t divup(int64_t x, int64_t y) {
  return (x + y - 1) / y;
}

namespace internal {
/// Elements below which a second thread is not worth it.
constexpr int64_t GRAIN_SIZE = hotaru::kGrainSize;
}  // namespace internal

}  // namespace at
