// The module's half of module.h. What is compiled is this file, a program's
// text and a table of the kernels that were asked for.
#pragma once

#include <utility>

#include "hotaru/backend/soft_gpu/module.h"

namespace hotaru::soft_gpu {

inline const ModuleHost* host = nullptr;

BarrierVote sync_block(bool predicate) {
  return host->sync_block(predicate);
}
unsigned sync_warp(unsigned mask, bool predicate) {
  return host->sync_warp(mask, predicate);
}
void shuffle(unsigned mask, const void* from, void* to, size_t bytes,
             int source) {
  host->shuffle(mask, from, to, bytes, source);
}
int lane() {
  return host->lane();
}
void* dynamic_shared_bytes() {
  return host->dynamic_shared_bytes();
}
void wait_for_grids() {
  host->wait_for_grids();
}

/// Calls a kernel with parameters that lie at multiples of 16 bytes.
template <auto kFunction>
struct Kernel;
template <class... A, void (*kFunction)(A...)>
struct Kernel<kFunction> {
  static constexpr size_t kCount = sizeof...(A);
  static constexpr size_t kSizes[kCount + 1] = {sizeof(A)..., 0};

  static constexpr size_t offset(size_t parameter) {
    size_t bytes = 0;
    for (size_t i = 0; i < parameter; ++i) bytes += (kSizes[i] + 15) / 16 * 16;
    return bytes;
  }
  template <size_t... I>
  static void call(const char* params, std::index_sequence<I...>) {
    kFunction(*reinterpret_cast<const A*>(params + offset(I))...);
  }
  static void run(const void* params) {
    call(static_cast<const char*>(params), std::index_sequence_for<A...>());
  }
  static ModuleKernel entry(const char* expression, bool synchronises) {
    return {expression, reinterpret_cast<const void*>(kFunction),
            &run,       kSizes,
            kCount,     synchronises};
  }
};

}  // namespace hotaru::soft_gpu

#define threadIdx (*::hotaru::soft_gpu::host->thread)
#define blockIdx (*::hotaru::soft_gpu::host->block)
#define blockDim (*::hotaru::soft_gpu::host->block_size)
#define gridDim (*::hotaru::soft_gpu::host->grid_size)
