#include "hotaru/runtime/parallel.h"

#include <cstdlib>
#include <sstream>
#include <thread>

#include "hotaru/runtime/cpu_count.h"
#include "hotaru/runtime/scheduler.h"

namespace hotaru {

namespace detail {

constinit thread_local ThreadPosition thread_position;

void run_chunks(int64_t chunks, void (*fn)(void*, int64_t), void* context) {
  Scheduler::instance().run_chunks(chunks, fn, context);
}

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

std::string parallel_info() {
  std::ostringstream out;
  out << "hotaru/parallel:\n\thotaru::get_num_threads() : " << get_num_threads()
      << "\n\tworker threads running : " << Scheduler::instance().num_workers()
      << "\nstd::thread::hardware_concurrency() : "
      << std::thread::hardware_concurrency()
      << "\nusable physical cores : " << usable_physical_cores()
      << "\ncgroup CPU quota : ";
  double quota = cgroup_cpu_quota();
  if (quota > 0) {
    out << quota << " CPUs\n";
  } else {
    out << "[not set]\n";
  }
  out << "Environment variables:\n";
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) {
    const char* value = std::getenv(name);
    out << "\t" << name << " : " << (value ? value : "[not set]");
    if (value != nullptr && positive_env(name) == 0) {
      out << " (ignored: not a positive integer)";
    }
    out << "\n";
  }
  out << "hotaru parallel backend: native thread pool\n";
  return std::move(out).str();
}

}  // namespace hotaru
