// Where elements of pictures lie, and the windows of pooling.
#pragma once

#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/pool.h"

namespace hotaru::cuda {

/// Element i of pictures of one size, one after the other: where in its plane
/// it is. Sides: members of what describes an axis.
struct PicturePlace {
  uint32_t at[3];
  uint32_t plane;

  template <class Axis>
  __device__ PicturePlace(const Axis (&axis)[3], Divider Axis::*side,
                          uint32_t i) {
    HOTARU_UNROLL
    for (int d = 2; d >= 0; --d) {
      const Divider n = axis[d].*side;
      const uint32_t above = n.divide(i);
      at[d] = i - above * n.divisor;
      i = above;
    }
    plane = i;
  }
};

/// Where the plane begins.
template <class Axis>
__device__ inline int64_t plane_begin(const Axis (&axis)[3],
                                      Divider Axis::*side, uint32_t plane) {
  int64_t size = plane;
  HOTARU_UNROLL
  for (int d = 0; d < 3; ++d) size *= (axis[d].*side).divisor;
  return size;
}

struct PoolRange {
  int64_t begin, end;
};

/// Positions [floor(i in / out), ceil((i + 1) in / out)).
__device__ inline PoolRange adaptive_range(uint32_t i, uint32_t in,
                                           uint32_t out) {
  return {int64_t(uint64_t(i) * in / out),
          int64_t((uint64_t(i + 1) * in + out - 1) / out)};
}

/// Windows that may have position i of x, dilated ones maybe beside it.
__device__ inline PoolRange windows_of(const PoolParams& p, int d, uint32_t i) {
  const PoolAxis& a = p.axis[d];
  if (p.adaptive) return adaptive_range(i, a.y.divisor, a.x.divisor);
  const int64_t last = i + a.padding;
  const int64_t first = last - (a.kernel - 1) * a.dilation;
  const int64_t begin = first <= 0 ? 0 : (first + a.stride - 1) / a.stride;
  const int64_t end = last / a.stride + 1;
  return {begin, end < a.y.divisor ? end : a.y.divisor};
}

}  // namespace hotaru::cuda
