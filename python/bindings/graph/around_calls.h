// Surroundings of a call of a captured function: whoever has to see its
// operators one by one, and the settings that its code can ask for.
#pragma once

#include <atomic>
#include <cstdint>

namespace hotaru::python {

namespace detail {
inline std::atomic<int> interposers{0};
inline std::atomic<uint64_t> settings{0};
}  // namespace detail

/// Counts a mode, hooks of saved tensors or a transform that begins (1) or
/// ends (-1), in any thread.
inline void count_interposer(int change) {
  detail::interposers.fetch_add(change, std::memory_order_relaxed);
}
/// True if there are any; which thread's has to be asked for.
inline bool anyone_interposed() {
  return detail::interposers.load(std::memory_order_relaxed) != 0;
}

/// To be called by whoever changes a setting of the process that Python code
/// can ask for, or that kernels follow.
inline void count_setting_change() {
  detail::settings.fetch_add(1, std::memory_order_relaxed);
}
inline uint64_t setting_changes() {
  return detail::settings.load(std::memory_order_relaxed);
}

}  // namespace hotaru::python
