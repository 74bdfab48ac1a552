#include "hotaru/runtime/threads/parallel.h"

#include "hotaru/runtime/threads/scheduler.h"

namespace hotaru {

namespace detail {

constinit thread_local ThreadPosition thread_position;

}  // namespace detail

int get_num_threads() {
  return Scheduler::instance().num_threads();
}

void set_num_threads(int count) {
  Scheduler::instance().set_num_threads(count);
}

int get_num_interop_threads() {
  return Scheduler::instance().num_interop_threads();
}

void set_num_interop_threads(int count, bool force) {
  Scheduler::instance().set_num_interop_threads(count, force);
}

int get_thread_num() {
  return detail::thread_position.thread_num;
}

bool in_parallel_region() {
  return detail::thread_position.in_region;
}

}  // namespace hotaru
