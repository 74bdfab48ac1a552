#include "hotaru/runtime/threads/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
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
  return int(cores.size());
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
std::string cgroup_path(const std::string& root, bool& is_v1) {
  std::ifstream file(root + "/proc/self/cgroup");
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

bool blank(const char* text) {
  return text[std::strspn(text, " \t")] == '\0';
}

}  // namespace

double cgroup_cpu_quota(const std::string& root) {
  bool is_v1 = false;
  std::string path = cgroup_path(root, is_v1);
  std::string mount = root + "/sys/fs/cgroup";
  if (is_v1) {
    const std::string joint = mount + "/cpu,cpuacct";
    mount +=
        std::ifstream(joint + "/cpu.cfs_quota_us") ? "/cpu,cpuacct" : "/cpu";
  }
  double least = quota_of(mount);
  while (path.size() > 1) {
    double quota = quota_of(mount + path);
    if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
    auto slash = path.rfind('/');
    if (slash == std::string::npos) break;
    path.resize(slash);
  }
  return least;
}

int affinity_cpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  return sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

int usable_physical_cores() {
  int cores = cores_in_affinity_mask();
  if (cores == 0) cores = int(std::thread::hardware_concurrency());
  double quota = cgroup_cpu_quota();
  if (quota > 0) cores = std::min(cores, int(quota));
  return std::max(cores, 1);
}

int positive_env(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text, &end, 10);
  const bool whole = end != text && errno == 0 && (*end == ',' || blank(end));
  return whole && value > 0 && value <= INT_MAX ? int(value) : 0;
}

int thread_count_from_environment() {
  for (const char* name : kThreadVariables)
    if (const int count = positive_env(name)) return count;
  return 0;
}

std::vector<std::string> thread_environment_warnings() {
  std::vector<std::string> warnings;
  for (const char* name : kThreadVariables) {
    const char* text = std::getenv(name);
    if (text == nullptr || positive_env(name) > 0) continue;
    warnings.push_back("Invalid " + std::string(name) + " variable value, '" +
                       text + "' is not a positive integer");
  }
  return warnings;
}

}  // namespace hotaru
