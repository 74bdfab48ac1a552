// Storages' memory as it is taken and given back, for who measures it.
#pragma once

#include <atomic>
#include <cstdint>

#include "hotaru/core/device.h"

namespace hotaru {

/// Told of a block that a storage has taken (of so many bytes), or is about to
/// give back (of as many, negative). Called in the thread that does it, also
/// amid an operator; neither throws nor makes storages.
using MemoryWatch = void (*)(const void* data, int64_t nbytes, Device device);

namespace detail {

/// Null while nobody measures.
extern std::atomic<MemoryWatch> memory_watch;

/// Costs a relaxed load while nobody measures.
inline void tell_memory(const void* data, int64_t nbytes, Device device) {
  const MemoryWatch watch = memory_watch.load(std::memory_order_relaxed);
  if (watch && data && nbytes != 0) [[unlikely]]
    watch(data, nbytes, device);
}

}  // namespace detail

}  // namespace hotaru
