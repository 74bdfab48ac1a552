// How many threads this process should use when nobody says.
#pragma once

#include <string>

namespace hotaru {

/// Number of physical cores this process may run on: cores of the affinity
/// mask (hyper-threads of one core count once), at most the cgroup's CPU quota
/// rounded down, at least 1. Reads /proc and /sys; not cached.
int usable_physical_cores();

/// CPU quota in CPUs of the cgroup (v1 or v2) and its parents; 0 if unlimited.
double cgroup_cpu_quota();

/// Positive integer value of an environment variable, or 0 when it is unset or
/// is no positive integer.
int positive_env(const char* name);

}  // namespace hotaru
