// Sines and cosines of angles in half turns, as CUDA has them: exact where they
// are 0 or 1, and without local memory.
#pragma once

#include <cmath>

#include "hotaru/backend/cuda/device/platform.h"

namespace hotaru::cuda {

template <class T>
struct HalfTurns {
  T cos, sin;
};

/// Sine and cosine of pi x.
template <class T>
__device__ inline HalfTurns<T> half_turns(T x) {
  HalfTurns<T> out;
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>)
    sincospif(x, &out.sin, &out.cos);
  else
    sincospi(x, &out.sin, &out.cos);
#else
  const T quarters = std::nearbyint(2 * x);
  const T angle = (x - quarters / 2) * T(3.14159265358979323846);
  const T s = std::sin(angle), c = std::cos(angle);
  const int64_t q = int64_t(quarters) & 3;
  out.cos = q == 0 ? c : q == 1 ? -s : q == 2 ? -c : s;
  out.sin = q == 0 ? s : q == 1 ? c : q == 2 ? -s : -c;
#endif
  return out;
}

}  // namespace hotaru::cuda
