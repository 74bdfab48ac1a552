// Runs the grid of a launch: its blocks one after another in shuffled order,
// the threads of a block as calls or, where they wait for each other, as
// fibers that take turns at random.
#pragma once

#include <cstddef>
#include <functional>

#include "hotaru/backend/cuda/driver_types.h"
#include "hotaru/backend/soft_gpu/kernel_code.h"
#include "hotaru/backend/soft_gpu/random.h"
#include "hotaru/backend/soft_gpu/vector_types.h"

namespace hotaru::soft_gpu {

inline constexpr unsigned kMaxBlockThreads = 1024;
inline constexpr unsigned kSharedBytes = 48 << 10;
inline constexpr unsigned kSharedBytesOptIn = 227 << 10;

struct Launch {
  const KernelCode* kernel;
  dim3 grid, block;
  unsigned shared_bytes;
  const void* params;
};

/// Called by one thread at a time, under FaultHandlers. An access to foreign
/// memory is ILLEGAL_ADDRESS; threads that wait for others in vain, a barrier
/// in a kernel that promised none, and a C++ exception are LAUNCH_FAILED.
cuda::CUresult run_grid(const Launch& launch, Random& random);

/// Concerns the next grid: `waited` is called when the first of its threads
/// calls wait_for_grids().
void on_first_wait(std::function<void()> waited);
/// Tells whether every thread of the grid that ran last did.
bool all_waited();

}  // namespace hotaru::soft_gpu
