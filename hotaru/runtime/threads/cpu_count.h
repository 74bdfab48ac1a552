// How many threads this process should use when nobody says.
#pragma once

#include <string>
#include <vector>

namespace hotaru {

/// Number of physical cores this process may run on: cores of the affinity
/// mask (hyper-threads of one core count once), at most the cgroup's CPU quota
/// rounded down, at least 1. Reads /proc and /sys; not cached.
int usable_physical_cores();

/// CPUs of the affinity mask, hyper-threads counted; 0 if the system does not
/// tell.
int affinity_cpus();

/// CPU quota in CPUs of the cgroup (v1 or v2) and its parents, the smallest of
/// them; 0 if unlimited. `root` replaces the root folder, for tests.
double cgroup_cpu_quota(const std::string& root = "");

/// Variables that set the number of threads, strongest first.
inline constexpr const char* kThreadVariables[] = {"MKL_NUM_THREADS",
                                                   "OMP_NUM_THREADS"};

/// Positive integer value of an environment variable, or 0 when it is unset or
/// is no positive integer. Of OpenMP's lists ("4,2", a number for each level of
/// nesting) it is the first number.
int positive_env(const char* name);

/// MKL_NUM_THREADS if that is a positive integer, else OMP_NUM_THREADS, else 0.
int thread_count_from_environment();

/// A sentence for each of the variables that is set to something else, as
/// PyTorch words it: "Invalid OMP_NUM_THREADS variable value, ...".
std::vector<std::string> thread_environment_warnings();

}  // namespace hotaru
