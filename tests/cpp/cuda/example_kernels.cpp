#include "tests/cpp/cuda/example_kernels.h"

#include "hotaru/backend/soft_gpu/device.h"
#include "hotaru/backend/soft_gpu/registry.h"

namespace hotaru::soft_gpu {
namespace {

/// out[0] += the sum of in, by shuffles within warps and shared memory.
__global__ void block_sum(const SumParams& p) {
  __shared__ float of_warp[32];
  float sum = 0;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i =
           static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < p.n; i += step)
    sum += p.in[i];
  for (int delta = 16; delta > 0; delta /= 2)
    sum += __shfl_down_sync(~0u, sum, delta);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
  for (int bits = 16; bits > 0; bits /= 2)
    sum += __shfl_xor_sync(~0u, sum, bits);
  if (threadIdx.x == 0) atomicAdd(p.out, sum);
}

/// The same through dynamic shared memory and without the barrier that it
/// needs if `what` is 1.
__global__ void reversed(const CellParams& p) {
  float* shared = dynamic_shared<float>();
  if (threadIdx.x == 0) p.cell[blockDim.x] = shared[threadIdx.x];  // poison
  __syncthreads();
  shared[threadIdx.x] = p.cell[threadIdx.x];
  if (p.what == 0) __syncthreads();
  p.cell[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void add_one(const CellParams& p) {
  p.cell[0] += 1;
}

__global__ void set_to(const CellParams& p) {
  p.cell[blockIdx.x * blockDim.x + threadIdx.x] = float(p.what);
}

__global__ void votes(const CellParams& p) {
  const unsigned n = threadIdx.x;
  if (n >= 40) return;  // exited threads count as arrived
  const unsigned ballot = __ballot_sync(~0u, n % 2);
  const int count = __syncthreads_count(n < 10);
  const int any = __any_sync(~0u, n == 35), all = __all_sync(~0u, n < 35);
  const int block_all = __syncthreads_and(n < 40);
  const int block_or = __syncthreads_or(n == 41);
  const int up = __shfl_up_sync(~0u, int(n), 1);
  const int first = __shfl_sync(~0u, int(n), 0, 8);
  float* out = p.cell + 8 * n;
  out[0] = float(ballot & 0xFF);
  out[1] = float(count);
  out[2] = float(any);
  out[3] = float(all);
  out[4] = float(block_all);
  out[5] = float(block_or);
  out[6] = float(up);
  out[7] = float(first);
}

__global__ void misuse(const CellParams& p) {
  const int n = int(threadIdx.x);
  switch (p.what) {
    case kMissingLane:  // half of the warp waits elsewhere
      if (n % 2)
        __syncwarp();
      else
        __shfl_sync(~0u, n, 0);
      break;
    case kHalfAtShuffle:
      if (n % 2)
        __syncthreads();
      else
        __shfl_sync(~0u, n, 0);
      break;
    case kForeignMask:
      __syncwarp(1u << 31);
      break;
    case kThrows:
      throw n;
    case kDivides: {
      volatile int by = 0;
      volatile int quotient = n / by;
      static_cast<void>(quotient);
    }
  }
}

__global__ void add_one_after(const AfterParams& p) {
  if (threadIdx.x < p.waiting) wait_for_grids();
  atomicAdd(p.cell, 1);
}

/// The same by threads that wait for each other, too.
__global__ void add_one_together(const AfterParams& p) {
  __syncthreads();
  if (threadIdx.x < p.waiting) wait_for_grids();
  __syncthreads();
  atomicAdd(p.cell, 1);
}

template <class Params, void (*kernel)(const Params&)>
void run(const void* params) {
  kernel(*static_cast<const Params*>(params));
}

const KernelRegistration kKernels[] = {
    {"block_sum", sizeof(SumParams), run<SumParams, block_sum>, true},
    {"reversed", sizeof(CellParams), run<CellParams, reversed>, true},
    {"add_one", sizeof(CellParams), run<CellParams, add_one>, false},
    {"set_to", sizeof(CellParams), run<CellParams, set_to>, false},
    {"add_one_after", sizeof(AfterParams), run<AfterParams, add_one_after>,
     false},
    {"add_one_together", sizeof(AfterParams),
     run<AfterParams, add_one_together>, true},
    {"votes", sizeof(CellParams), run<CellParams, votes>, true},
    {"misuse", sizeof(CellParams), run<CellParams, misuse>, true},
    {"misuse_as_calls", sizeof(CellParams), run<CellParams, misuse>, false},
};

}  // namespace
}  // namespace hotaru::soft_gpu
