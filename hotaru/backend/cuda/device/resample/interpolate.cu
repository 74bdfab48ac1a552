// Interpolation and its transpose, each output gathered by a thread. See
// params/resample.h for how they are launched.
#include <cmath>

#include "hotaru/backend/common/resample/cubic.h"
#include "hotaru/backend/common/resample/lanczos.h"
#include "hotaru/backend/cuda/device/half_turns.h"
#include "hotaru/backend/cuda/device/pool/windows.h"
#include "hotaru/backend/cuda/params/resample.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

__device__ inline int64_t clamped(int64_t i, int64_t most) {
  return i < 0 ? 0 : i > most ? most : i;
}

/// The filters of antialias reach so many input positions on either side.
__device__ inline int reach_of(Interpolation mode) {
  return mode == Interpolation::kLinear  ? 1
         : mode == Interpolation::kCubic ? 2
                                         : 3;
}

/// The inputs of an output position along a dimension, with their weights.
template <class P, bool kLanczos>
struct Taps {
  int64_t first = 0, last;
  uint32_t count = 1;
  Interpolation mode;
  bool stretched = false;
  /// Where the output lies, beyond the pixel below it or from the left.
  P at = 0;
  P stretch = 1, total = 1;

  __device__ Taps(const ResampleParams& p, int d, uint32_t o)
      : last(int64_t(p.axis[d].x.divisor) - 1), mode(p.mode) {
    const ResampleAxis& a = p.axis[d];
    const P scale = P(a.scale), shift = P(a.shift);
    if constexpr (kLanczos) {
      filter(scale, o);
    } else if (a.same) {
      first = o;
    } else if (mode == Interpolation::kNearest) {
      first = int64_t(std::floor((float(o) + float(shift)) * float(scale)));
    } else if (p.antialias) {
      filter(scale, o);
    } else {
      P x = scale * (P(o) + shift) - shift;
      if (mode == Interpolation::kLinear && x < P(0)) x = P(0);
      const P whole = std::floor(x);
      first = int64_t(whole);
      at = x - whole;
      count = 2;
      if (mode == Interpolation::kCubic) {
        first -= 1;
        count = 4;
      } else if (first > last) {
        first = last;
        at = P(1);
      }
    }
  }

  /// Makes taps of antialias: the filter grows as the picture shrinks.
  __device__ void filter(P scale, uint32_t o) {
    stretched = true;
    stretch = scale > P(1) ? scale : P(1);
    const P support = P(reach_of(mode)) * stretch;
    const P center = scale * (P(o) + P(0.5));
    first = clamped(int64_t(center - support + P(0.5)), last + 1);
    const int64_t end = clamped(int64_t(center + support + P(0.5)), last + 1);
    count = end > first ? uint32_t(end - first) : 0;
    at = center;
    total = 0;
    HOTARU_NO_UNROLL
    for (uint32_t k = 0; k < count; ++k) total += filtered(k);
    if (total == P(0)) total = 1;
  }
  __device__ P filtered(uint32_t k) const {
    const P x = (P(first + k) - at + P(0.5)) / stretch;
    if constexpr (kLanczos) {
      // sin(3 t) = sin(t) (3 - 4 sin(t)^2)
      const P third = half_turns(x / P(3)).sin;
      return lanczos(x, third * (P(3) - P(4) * third * third), third);
    }
    if (mode == Interpolation::kCubic) return cubic(x, P(-0.5));
    const P w = P(1) - std::abs(x);
    return w > P(0) ? w : P(0);
  }

  __device__ int64_t index(uint32_t k) const {
    return clamped(first + k, last);
  }
  __device__ P weight(uint32_t k) const {
    if (kLanczos || stretched) return filtered(k) / total;
    if (count == 1) return P(1);
    if (count == 2) return k == 0 ? P(1) - at : at;
    return cubic(at - (P(k) - P(1)), P(-0.75));
  }
  /// The weight of all taps that read position i; false if there is none.
  __device__ bool weight_of(int64_t i, P& sum) const {
    bool any = false;
    sum = 0;
    HOTARU_NO_UNROLL
    for (uint32_t k = 0; k < count; ++k)
      if (index(k) == i) {
        sum += weight(k);
        any = true;
      }
    return any;
  }
};

/// Output positions that may have a tap at position i.
struct Outputs {
  uint32_t begin = 0, end;

  __device__ Outputs(const ResampleParams& p, int d, uint32_t i)
      : end(p.axis[d].y.divisor) {
    const ResampleAxis& a = p.axis[d];
    if (a.same) {
      begin = i;
      end = i + 1;
      return;
    }
    if (!(a.scale > 0)) return;
    // Farther than any filter reaches, and one for roundings.
    double reach = 5;
    if (p.antialias && a.scale > 1) reach = 3 + reach_of(p.mode) * a.scale;
    const double back = p.mode == Interpolation::kNearest ? 0 : a.shift;
    const auto output = [&](double at) {
      const double o = (at + back) / a.scale - a.shift;
      return o < 0 ? 0u : o > double(end) ? end : uint32_t(o);
    };
    // Positions outside of the picture read its edge.
    const uint32_t most = i + 1 == a.x.divisor ? end : output(i + reach) + 1;
    if (i > 0) begin = output(double(i) - reach);
    if (most < end) end = most;
  }
};

template <class T>
using Position = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T, bool kLanczos = false>
__device__ void interpolate(const ResampleParams& p) {
  using P = Position<T>;
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const PicturePlace y(p.axis, &ResampleAxis::y, i);
  const Taps<P, kLanczos> z(p, 0, y.at[0]), h(p, 1, y.at[1]), w(p, 2, y.at[2]);
  const int64_t rows = p.axis[1].x.divisor, columns = p.axis[2].x.divisor;
  const auto* x = static_cast<const Stored<T>*>(p.in) +
                  plane_begin(p.axis, &ResampleAxis::x, y.plane);
  P sum = 0;
  HOTARU_NO_UNROLL
  for (uint32_t a = 0; a < z.count; ++a) {
    HOTARU_NO_UNROLL
    for (uint32_t b = 0; b < h.count; ++b) {
      const auto* row = x + (z.index(a) * rows + h.index(b)) * columns;
      const P weight = z.weight(a) * h.weight(b);
      HOTARU_NO_UNROLL
      for (uint32_t c = 0; c < w.count; ++c)
        sum += weight * w.weight(c) * P(load<T>(row + w.index(c)));
    }
  }
  store<T>(static_cast<Stored<T>*>(p.out) + i, OpMath<T>(sum));
}

template <class T, bool kLanczos = false>
__device__ void interpolate_transposed(const ResampleParams& p) {
  using P = Position<T>;
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const PicturePlace x(p.axis, &ResampleAxis::x, i);
  const Outputs z(p, 0, x.at[0]), h(p, 1, x.at[1]), w(p, 2, x.at[2]);
  const int64_t rows = p.axis[1].y.divisor, columns = p.axis[2].y.divisor;
  const auto* g = static_cast<const Stored<T>*>(p.in) +
                  plane_begin(p.axis, &ResampleAxis::y, x.plane);
  P sum = 0, deep, high, wide;
  HOTARU_NO_UNROLL
  for (uint32_t a = z.begin; a < z.end; ++a) {
    if (!Taps<P, kLanczos>(p, 0, a).weight_of(x.at[0], deep)) continue;
    HOTARU_NO_UNROLL
    for (uint32_t b = h.begin; b < h.end; ++b) {
      if (!Taps<P, kLanczos>(p, 1, b).weight_of(x.at[1], high)) continue;
      const auto* row = g + (a * rows + b) * columns;
      HOTARU_NO_UNROLL
      for (uint32_t c = w.begin; c < w.end; ++c)
        if (Taps<P, kLanczos>(p, 2, c).weight_of(x.at[2], wide))
          sum += deep * high * wide * P(load<T>(row + c));
    }
  }
  store<T>(static_cast<Stored<T>*>(p.out) + i, OpMath<T>(sum));
}

}  // namespace

#define HOTARU_INTERPOLATE(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(Interpolate_##suffix, ResampleParams, interpolate<T>) \
  HOTARU_CUDA_KERNEL(Interpolate_##suffix##_t, ResampleParams, \
                     interpolate_transposed<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_INTERPOLATE, )
#define HOTARU_LANCZOS(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(Lanczos_##suffix, ResampleParams, interpolate<T, true>) \
  HOTARU_CUDA_CROWDED_KERNEL(Lanczos_##suffix##_t, 2, ResampleParams, \
                             interpolate_transposed<T, true>)
    HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_LANCZOS, )
        HOTARU_CUDA_KERNEL(Interpolate_u8, ResampleParams, interpolate<uint8_t>)

}  // namespace hotaru::cuda
