// Interface between a shared object of kernels and the GPU in software that
// loads it. Both include this file: the objects when they are compiled, which
// is done from source text (libraries/nvrtc.cpp).
#pragma once

#include <cstddef>

#include "hotaru/backend/soft_gpu/device.h"

namespace hotaru::soft_gpu {

/// The functions of device.h and the thread that runs, for an object that is
/// not linked with them.
struct ModuleHost {
  uint3 *thread, *block;
  dim3 *block_size, *grid_size;
  BarrierVote (*sync_block)(bool predicate);
  unsigned (*sync_warp)(unsigned mask, bool predicate);
  void (*shuffle)(unsigned mask, const void* from, void* to, size_t bytes,
                  int source);
  int (*lane)();
  void* (*dynamic_shared_bytes)();
  void (*wait_for_grids)();
};

struct ModuleKernel {
  const char* expression;    // by which it was asked for
  const void* function;      // as it was written
  void (*run)(const void*);  // see KernelCode
  const size_t* sizes;
  size_t parameters;
  bool synchronises;
};

/// An object exports a function of this type and this name, which takes the
/// host's half and gives its kernels.
using ModuleEntry = const ModuleKernel* (*)(const ModuleHost* host,
                                            size_t* count);
inline constexpr const char* kModuleEntry = "hotaru_soft_module";

}  // namespace hotaru::soft_gpu
