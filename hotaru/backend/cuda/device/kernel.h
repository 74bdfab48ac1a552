// A kernel: a symbol that the host finds by its name, and a function of one
// parameter, which is told everything by value.
#pragma once

#include "hotaru/backend/cuda/device/platform.h"
#include "hotaru/backend/cuda/params/index.h"

// Texts that are compiled at run time define their kernels themselves.
#if !defined(__CUDACC__) && !defined(HOTARU_RUN_TIME_CODE)
#include "hotaru/backend/soft_gpu/registry.h"
#endif

/// At namespace scope. The function (the last argument, which may hold commas)
/// takes `const Params&`; its threads do not wait for each other. Symbols are
/// as in C, whatever the namespace.
#define HOTARU_CUDA_KERNEL(symbol, Params, ...) \
  HOTARU_CUDA_ENTRY(symbol, false, (::hotaru::cuda::kBlock), Params, \
                    __VA_ARGS__)
/// The same where threads of a block wait for each other.
#define HOTARU_CUDA_BLOCK_KERNEL(symbol, Params, ...) \
  HOTARU_CUDA_ENTRY(symbol, true, (::hotaru::cuda::kBlock), Params, __VA_ARGS__)
/// The same with registers for so many blocks on a processor.
#define HOTARU_CUDA_CROWDED_KERNEL(symbol, blocks, Params, ...) \
  HOTARU_CUDA_ENTRY(symbol, true, (::hotaru::cuda::kBlock, blocks), Params, \
                    __VA_ARGS__)

#ifdef __CUDACC__
#define HOTARU_CUDA_ENTRY(symbol, synchronises, bounds, Params, ...) \
  extern "C" __global__ void __launch_bounds__ bounds symbol( \
      const __grid_constant__ Params p) { \
    static_assert(sizeof(Params) <= 4096); \
    static_assert(std::is_trivially_copyable_v<Params>); \
    ::hotaru::cuda::begin_kernel(); \
    __VA_ARGS__(p); \
  }
#else
#define HOTARU_CUDA_ENTRY(symbol, synchronises, bounds, Params, ...) \
  static_assert(sizeof(Params) <= 4096); \
  static_assert(std::is_trivially_copyable_v<Params>); \
  static const ::hotaru::soft_gpu::KernelRegistration symbol##_registered( \
      #symbol, sizeof(Params), \
      [](const void* p) { __VA_ARGS__(*static_cast<const Params*>(p)); }, \
      synchronises, true);
#endif
