// parallel_info() of parallel.h.
#include <cstdlib>
#include <sstream>
#include <thread>

#include "hotaru/runtime/threads/cpu_count.h"
#include "hotaru/runtime/threads/parallel.h"
#include "hotaru/runtime/threads/parallel_backend.h"
#include "hotaru/runtime/threads/scheduler.h"

namespace hotaru {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "[not set]";
}

std::string openmp_line(bool is_built) {
  return is_built ? "OpenMP not loaded (HOTARU_THREADING=openmp loads it)\n"
                  : "OpenMP not found\n";
}

}  // namespace

std::string parallel_info() {
  const ParallelBackend& backend = detail::current_backend();
  const std::vector<std::string> built = parallel_backends();
  const std::string name = backend.name;
  std::string names;
  bool has_openmp = false;
  for (const std::string& each : built) {
    names += (names.empty() ? "" : ", ") + each;
    has_openmp = has_openmp || each == "openmp";
  }
  const Scheduler& scheduler = Scheduler::instance();
  std::ostringstream out;
  out << "ATen/Parallel:\n\tat::get_num_threads() : " << get_num_threads()
      << "\n\tat::get_num_interop_threads() : " << get_num_interop_threads()
      << "\n"
      << (name == "openmp" ? "" : openmp_line(has_openmp))
      << (backend.describe ? backend.describe() : "")
      << "MKL not found\nMKLDNN not found\n"
      << "std::thread::hardware_concurrency() : "
      << std::thread::hardware_concurrency() << "\nEnvironment variables:\n"
      << "\tOMP_NUM_THREADS : " << environment("OMP_NUM_THREADS")
      << "\n\tMKL_NUM_THREADS : " << environment("MKL_NUM_THREADS")
      << "\nATen parallel backend: " << backend.label
      << "\n"
      // PyTorch has no lines for the rest.
      << "hotaru:\n\tthreading back end : " << name << " (built: " << names
      << ")\n\tHOTARU_THREADING : " << environment("HOTARU_THREADING")
      << "\n\tworker threads running : " << scheduler.num_workers()
      << "\n\tinterop tasks running on workers : "
      << scheduler.num_busy_workers()
      << "\n\tusable physical cores : " << usable_physical_cores()
      << "\n\tCPUs in affinity mask : " << affinity_cpus()
      << "\n\tcgroup CPU quota : ";
  if (const double quota = cgroup_cpu_quota(); quota > 0)
    out << quota << " CPUs\n";
  else
    out << "[not set]\n";
  for (const std::string& warning : thread_environment_warnings())
    out << "\tignored : " << warning << "\n";
  return std::move(out).str();
}

}  // namespace hotaru
