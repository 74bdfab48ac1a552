// Facts about processors that Linux keeps in the files of /proc and /sys.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "hotaru/platform/processors.h"

namespace hotaru::platform {
namespace {

/// The value of a key in /proc/cpuinfo; empty if the machine does not say.
std::string cpu_field(const std::string& key) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t value = line.find(": ");
    return value == line.npos ? "" : line.substr(value + 2);
  }
  return "";
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

}  // namespace

std::string core_of(int processor) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(processor) +
                     "/topology/thread_siblings_list");
  std::string line;
  std::getline(file, line);
  return line;
}

double cpu_quota(const std::string& root) {
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

std::string processor_name() {
  return cpu_field("model name");
}

std::set<std::string> processor_features() {
  std::istringstream flags(cpu_field("flags"));
  return {std::istream_iterator<std::string>(flags),
          std::istream_iterator<std::string>()};
}

}  // namespace hotaru::platform
