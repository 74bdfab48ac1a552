// Where the draws of a graph's replay begin, for its other kernels.
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/random/philox.h"

namespace hotaru::cuda {
namespace {

__device__ void set_philox(const SetPhiloxParams& p) {
  if (threadIdx.x == 0) *p.out = p.value;
}

}  // namespace

HOTARU_CUDA_KERNEL(SetPhilox, SetPhiloxParams, set_philox)

}  // namespace hotaru::cuda
