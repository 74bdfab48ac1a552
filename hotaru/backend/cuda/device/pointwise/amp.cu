// Scaling of losses. See params/amp.h for how it is launched.
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/amp.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T>
__device__ void unscale(const AmpUnscaleParams& p) {
  using A = OpMath<T>;
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  auto* at = static_cast<Stored<T>*>(p.grad) + i;
  const A value = load<T>(at);
  // Only of infinities and NaN the difference is no zero; whoever finds one
  // writes the same.
  if (!(value - value == A(0))) *p.found_inf = 1;
  const A factor = A(*p.inv_scale);
  store<T>(at, factor == A(1) ? value : value * factor);
}

__device__ void update_scale(const AmpUpdateParams& p) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  if (*p.found_inf != 0) {
    *p.scale = float(*p.scale * p.backoff);
    *p.tracker = 0;
  } else if (*p.tracker + int64_t(1) == p.interval) {
    const float grown = float(*p.scale * p.growth);
    if (grown - grown == 0) *p.scale = grown;
    *p.tracker = 0;
  } else {
    *p.tracker += 1;
  }
}

}  // namespace

#define HOTARU_AMP(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(AmpUnscale_##suffix, AmpUnscaleParams, unscale<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_AMP, )

    HOTARU_CUDA_KERNEL(AmpUpdate, AmpUpdateParams, update_scale)

}  // namespace hotaru::cuda
