// Checks of values; see params/errors.h.
#include "hotaru/backend/cuda/device/errors.h"
#include "hotaru/backend/cuda/device/kernel.h"

namespace hotaru::cuda {
namespace {

__device__ void require(const RequireParams& p) {
  if (threadIdx.x == 0 && *p.holds == 0) report_error(p.errors, 0, 0, 0);
}

}  // namespace

HOTARU_CUDA_KERNEL(Require, RequireParams, require)

}  // namespace hotaru::cuda
