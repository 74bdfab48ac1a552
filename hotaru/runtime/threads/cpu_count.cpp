#include "hotaru/runtime/threads/cpu_count.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "hotaru/platform/processors.h"

namespace hotaru {
namespace {

/// Cores of the affinity mask, or 0 if the system does not tell.
int cores_in_affinity_mask() {
  platform::ProcessorSet allowed;
  if (!platform::allowed_processors(allowed)) return 0;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < platform::ProcessorSet::kMost; ++cpu) {
    if (!allowed.has(cpu)) continue;
    // Hyper-threads name a core; without it each CPU is one.
    const std::string core = platform::core_of(cpu);
    cores.insert(core.empty() ? "cpu" + std::to_string(cpu) : core);
  }
  return int(cores.size());
}

bool blank(const char* text) {
  return text[std::strspn(text, " \t")] == '\0';
}

}  // namespace

double cgroup_cpu_quota(const std::string& root) {
  return platform::cpu_quota(root);
}

int affinity_cpus() {
  platform::ProcessorSet allowed;
  return platform::allowed_processors(allowed) ? allowed.count() : 0;
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
