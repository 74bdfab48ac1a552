// Complex lines, copied or in place, times a number; see params/fft_scale.h.
#include <complex>

#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/fft_scale.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class R>
__device__ void scale(const FftScaleParams& p) {
  using C = std::complex<R>;
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.total) return;
  const uint32_t line = p.points.divide(i);
  const uint32_t point = i - line * p.points.divisor;
  const C x =
      *reinterpret_cast<const C*>(static_cast<const char*>(p.from) +
                                  line * p.from_line + point * p.from_step);
  const bool real = (p.real_first && point == 0) ||
                    (p.real_last && point + 1 == p.points.divisor);
  const R by = R(p.scale), turned = p.conjugate ? -by : by;
  *reinterpret_cast<C*>(static_cast<char*>(p.to) + line * p.to_line +
                        point * p.to_step) =
      C(by * x.real(), real ? R(0) : turned * x.imag());
}

}  // namespace

#define HOTARU_FFT_SCALE(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(FftScale_##suffix, FftScaleParams, scale<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_FFT_SCALE, )

}  // namespace hotaru::cuda
