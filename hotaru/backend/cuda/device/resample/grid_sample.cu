// Pictures sampled at points, and the gradients. See params/grid_sample.h for
// how they are launched; formulas are in common/resample/grid_taps.h.
#include <cmath>

#include "hotaru/backend/common/resample/grid_taps.h"
#include "hotaru/backend/cuda/device/atomic.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/grid_sample.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// Taps of this thread's point, by dimension.
template <class T>
struct GridPoint {
  using A = OpMath<T>;
  int64_t sample, point;
  GridTaps<A> t[3];

  __device__ GridPoint(const GridSampleParams& p, int64_t i)
      : sample(i / p.points), point(i - sample * p.points) {
    const auto* at = static_cast<const Stored<T>*>(p.grid) + i * p.dims;
    bool lost = false;
    HOTARU_NO_UNROLL
    for (int d = 0; d < 3; ++d) {
      if (d < 3 - p.dims) {
        t[d].add(0, A(1), A(0));
        continue;
      }
      t[d] =
          grid_taps(widen<T>(at[2 - d]), p.side[d], p.attributes, p.dims == 3);
      lost |= t[d].lost();
    }
    // In two dimensions everything about a point that lies nowhere is NaN.
    if (p.dims == 2 && lost)
      for (int d = 1; d < 3; ++d) {
        t[d] = {};
        t[d].add(0, A(NAN), A(NAN));
      }
  }
  __device__ bool lost() const { return t[2].lost(); }

  /// f(offset in a plane, taps i, j, k) for those inside.
  template <class F>
  __device__ void each(const GridSampleParams& p, const F& f) const {
    HOTARU_NO_UNROLL
    for (int i = 0; i < t[0].count; ++i) {
      HOTARU_NO_UNROLL
      for (int j = 0; j < t[1].count; ++j) {
        HOTARU_NO_UNROLL
        for (int k = 0; k < t[2].count; ++k)
          if (t[0].index[i] >= 0 && t[1].index[j] >= 0 && t[2].index[k] >= 0)
            f((t[0].index[i] * p.side[1] + t[1].index[j]) * p.side[2] +
                  t[2].index[k],
              i, j, k);
      }
    }
  }
};

__device__ inline int64_t point_number() {
  return int64_t{blockIdx.x} * kBlock + threadIdx.x;
}

template <class T>
__device__ void grid_sample(const GridSampleParams& p) {
  const int64_t number = point_number();
  if (number >= p.numel) return;
  const GridPoint<T> at(p, number);
  const int64_t plane = p.side[0] * p.side[1] * p.side[2];
  for (int64_t c = 0; c < p.channels; ++c) {
    const int64_t channel = at.sample * p.channels + c;
    const auto* x = static_cast<const Stored<T>*>(p.x) + channel * plane;
    OpMath<T> sum = 0;
    at.each(p, [&](int64_t offset, int i, int j, int k) {
      sum += at.t[0].weight[i] * at.t[1].weight[j] * at.t[2].weight[k] *
             widen<T>(x[offset]);
    });
    static_cast<Stored<T>*>(p.out)[channel * p.points + at.point] =
        narrow<T>(sum);
  }
}

template <class T>
__device__ void grid_sample_grad(const GridSampleParams& p) {
  using A = OpMath<T>;
  const int64_t number = point_number();
  if (number >= p.numel) return;
  const GridPoint<T> at(p, number);
  const int64_t plane = p.side[0] * p.side[1] * p.side[2];
  A slopes[3] = {};
  for (int64_t c = 0; c < p.channels; ++c) {
    const int64_t channel = at.sample * p.channels + c;
    const auto* x = static_cast<const Stored<T>*>(p.x) + channel * plane;
    const A grad = widen<T>(
        static_cast<const Stored<T>*>(p.grad)[channel * p.points + at.point]);
    at.each(p, [&](int64_t offset, int i, int j, int k) {
      const A wi = at.t[0].weight[i], wj = at.t[1].weight[j],
              wk = at.t[2].weight[k];
      if (p.x_grad && !at.lost())
        AtomicAdd::at<T>(
            static_cast<Stored<T>*>(p.x_grad) + channel * plane + offset,
            grad * wi * wj * wk);
      const A value = grad * widen<T>(x[offset]);
      slopes[0] += value * at.t[0].slope[i] * wj * wk;
      slopes[1] += value * wi * at.t[1].slope[j] * wk;
      slopes[2] += value * wi * wj * at.t[2].slope[k];
    });
  }
  if (!p.grid_grad) return;
  auto* to = static_cast<Stored<T>*>(p.grid_grad) + number * p.dims;
  for (int d = 0; d < p.dims; ++d) to[d] = narrow<T>(slopes[2 - d]);
}

}  // namespace

#define HOTARU_GRID_SAMPLE(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(GridSample_##suffix, GridSampleParams, grid_sample<T>) \
  HOTARU_CUDA_KERNEL(GridSampleGrad_##suffix, GridSampleParams, \
                     grid_sample_grad<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_GRID_SAMPLE, )

}  // namespace hotaru::cuda
