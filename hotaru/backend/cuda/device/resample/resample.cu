// Average pooling and its transpose, each output gathered by a thread. See
// params/pool.h for how they are launched.
#include "hotaru/backend/cuda/device/pool/windows.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

struct Average {
  int64_t begin, end;
  /// Divisor of a sum for this dimension.
  int64_t count;
};

__device__ inline Average average_of(const PoolParams& p, int d, int64_t o) {
  const PoolAxis& a = p.axis[d];
  const int64_t side = a.x.divisor;
  if (p.adaptive) {
    const PoolRange r = adaptive_range(uint32_t(o), a.x.divisor, a.y.divisor);
    return {r.begin, r.end, r.end - r.begin};
  }
  const int64_t start = o * a.stride - a.padding;
  int64_t stop = start + a.kernel;
  if (stop > side + a.padding) stop = side + a.padding;
  Average out{start < 0 ? 0 : start, stop < side ? stop : side, 1};
  if (out.end < out.begin) out.end = out.begin;
  const int64_t count = p.include_pad ? stop - start : out.end - out.begin;
  if (p.divisor == 0 && count > 1) out.count = count;
  return out;
}

template <class A>
__device__ A divisor_of(const PoolParams& p, const Average& z, const Average& h,
                        const Average& w) {
  const A whole = p.divisor != 0 ? A(p.divisor) : A(1);
  return whole * A(z.count) * A(h.count) * A(w.count);
}

template <class T>
__device__ void average_pool(const PoolParams& p) {
  using A = OpMath<T>;
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const PicturePlace y(p.axis, &PoolAxis::y, i);
  const auto* x = static_cast<const Stored<T>*>(p.in) +
                  plane_begin(p.axis, &PoolAxis::x, y.plane);
  const Average z = average_of(p, 0, y.at[0]), h = average_of(p, 1, y.at[1]),
                w = average_of(p, 2, y.at[2]);
  A sum = 0;
  HOTARU_NO_UNROLL
  for (int64_t a = z.begin; a < z.end; ++a) {
    HOTARU_NO_UNROLL
    for (int64_t b = h.begin; b < h.end; ++b) {
      const auto* row = x + (a * p.axis[1].x.divisor + b) * p.axis[2].x.divisor;
      for (int64_t c = w.begin; c < w.end; ++c) sum += load<T>(row + c);
    }
  }
  store<T>(static_cast<Stored<T>*>(p.out) + i, sum / divisor_of<A>(p, z, h, w));
}

template <class T>
__device__ void average_pool_transposed(const PoolParams& p) {
  using A = OpMath<T>;
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const PicturePlace x(p.axis, &PoolAxis::x, i);
  const auto* g = static_cast<const Stored<T>*>(p.in) +
                  plane_begin(p.axis, &PoolAxis::y, x.plane);
  const PoolRange z = windows_of(p, 0, x.at[0]), h = windows_of(p, 1, x.at[1]),
                  w = windows_of(p, 2, x.at[2]);
  A sum = 0;
  HOTARU_NO_UNROLL
  for (int64_t a = z.begin; a < z.end; ++a) {
    HOTARU_NO_UNROLL
    for (int64_t b = h.begin; b < h.end; ++b) {
      const auto* row = g + (a * p.axis[1].y.divisor + b) * p.axis[2].y.divisor;
      HOTARU_NO_UNROLL
      for (int64_t c = w.begin; c < w.end; ++c)
        sum += load<T>(row + c) / divisor_of<A>(p, average_of(p, 0, a),
                                                average_of(p, 1, b),
                                                average_of(p, 2, c));
    }
  }
  store<T>(static_cast<Stored<T>*>(p.out) + i, sum);
}

}  // namespace

#define HOTARU_AVERAGE(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(AveragePool_##suffix, PoolParams, average_pool<T>) \
  HOTARU_CUDA_KERNEL(AveragePool_##suffix##_t, PoolParams, \
                     average_pool_transposed<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_AVERAGE, )
    HOTARU_CUDA_KERNEL(AveragePool_i64, PoolParams, average_pool<int64_t>)

}  // namespace hotaru::cuda
