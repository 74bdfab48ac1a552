#include "hotaru/runtime/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <thread>

namespace hotaru {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Cores of the affinity mask, or 0 if the system does not tell.
int cores_in_affinity_mask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return 0;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mask)) continue;
    // The list of hyper-threads names a core; without it each CPU is one.
    std::string siblings =
        first_line("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                   "/topology/thread_siblings_list");
    cores.insert(siblings.empty() ? "cpu" + std::to_string(cpu) : siblings);
  }
  return static_cast<int>(cores.size());
}

/// CPUs granted by one folder's quota, or 0 if it sets none.
double quota_of(const std::string& folder) {
  double quota = 0, period = 0;
  if (std::ifstream v2(folder + "/cpu.max"); v2) {
    if (!(v2 >> quota >> period)) return 0;  // "max 100000": unlimited
  } else {
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

/// Path of this process in the hierarchy that limits CPU time, e.g. "/user".
std::string cgroup_path(bool& is_v1) {
  std::ifstream file("/proc/self/cgroup");
  std::string line, path;
  is_v1 = false;
  while (std::getline(file, line)) {
    auto first = line.find(':');
    auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string list = "," + line.substr(first + 1, second - first - 1) + ",";
    if (list.find(",cpu,") != std::string::npos) {
      is_v1 = true;
      return line.substr(second + 1);
    }
    if (list == ",,") path = line.substr(second + 1);
  }
  return path;
}

}  // namespace

double cgroup_cpu_quota() {
  bool is_v1 = false;
  std::string path = cgroup_path(is_v1);
  const std::string root = is_v1 ? "/sys/fs/cgroup/cpu" : "/sys/fs/cgroup";
  double least = quota_of(root);
  while (path.size() > 1) {
    double quota = quota_of(root + path);
    if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
    auto slash = path.rfind('/');
    if (slash == std::string::npos) break;
    path.resize(slash);
  }
  return least;
}

int usable_physical_cores() {
  int cores = cores_in_affinity_mask();
  if (cores == 0) cores = static_cast<int>(std::thread::hardware_concurrency());
  double quota = cgroup_cpu_quota();
  if (quota > 0) cores = std::min(cores, static_cast<int>(quota));
  return std::max(cores, 1);
}

int positive_env(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  char* end = nullptr;
  errno = 0;
  long value = std::strtol(text, &end, 10);
  bool whole = end != text && *end == '\0' && errno == 0;
  return whole && value > 0 && value <= INT_MAX ? static_cast<int>(value) : 0;
}

}  // namespace hotaru
