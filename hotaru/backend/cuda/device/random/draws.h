// Four random words as the numbers that PyTorch makes of them on CUDA, by the
// formulas of cuRAND's documentation.
#pragma once

#include <cmath>

#include "hotaru/backend/cuda/device/platform.h"
#include "hotaru/backend/cuda/params/random/philox.h"

namespace hotaru::cuda {

/// Values that four words make.
template <class A>
inline constexpr uint32_t kDrawn = 16 / sizeof(A);

/// 53 bits of two words.
HOTARU_DEVICE inline uint64_t bits53(uint32_t low, uint32_t high) {
  return uint64_t{low} ^ (uint64_t{high} << 21);
}

/// Uniform in (0, 1].
__device__ inline void uniforms(const Words4& words, float (&out)[4]) {
  const uint32_t w[4] = {words.x, words.y, words.z, words.w};
  HOTARU_UNROLL
  for (int i = 0; i < 4; ++i)
    out[i] = std::fma(float(w[i]), 0x1p-32f, 0x1p-33f);
}
__device__ inline void uniforms(const Words4& w, double (&out)[2]) {
  out[0] = std::fma(double(bits53(w.x, w.y)), 0x1p-53, 0x1p-54);
  out[1] = std::fma(double(bits53(w.z, w.w)), 0x1p-53, 0x1p-54);
}

/// Two of two words (Box and Muller, "A note on the generation of random normal
/// deviates", 1958).
__device__ inline void normal_pair(uint32_t x, uint32_t y, float* out) {
  constexpr float kTurn = 0x1p-32f * 6.2831855f;
  const float u = std::fma(float(x), 0x1p-32f, 0x1p-33f);
  const float angle = std::fma(float(y), kTurn, kTurn / 2);
  const float radius = std::sqrt(-2.0f * std::log(u));
#if defined(__CUDACC__) && !defined(__CUDA_ARCH__)
  out[0] = std::sin(angle), out[1] = std::cos(angle);  // never called there
#else
  __sincosf(angle, &out[0], &out[1]);
#endif
  out[0] *= radius;
  out[1] *= radius;
}
__device__ inline void normals(const Words4& w, float (&out)[4]) {
  normal_pair(w.x, w.y, out);
  normal_pair(w.z, w.w, out + 2);
}
HOTARU_DEVICE inline void normals(const Words4& w, double (&out)[2]) {
  const double u = std::fma(double(bits53(w.x, w.y)), 0x1p-53, 0x1p-54);
  const double half_turns =
      std::fma(double(bits53(w.z, w.w)), 0x1p-52, 0x1p-53);
  const double radius = std::sqrt(-2.0 * std::log(u));
#if defined(__CUDA_ARCH__)
  sincospi(half_turns, &out[0], &out[1]);
#else
  out[0] = std::sin(half_turns * 3.14159265358979323846);
  out[1] = std::cos(half_turns * 3.14159265358979323846);
#endif
  out[0] *= radius;
  out[1] *= radius;
}

/// PyTorch takes CUDA's fast logarithm of floats here.
__device__ inline float fast_log(float x) {
#if defined(__CUDA_ARCH__)
  return __logf(x);
#else
  return std::log(x);
#endif
}
__device__ inline double fast_log(double x) {
  return std::log(x);
}

/// And its fast exponential and tangent.
__device__ inline float fast_exp(float x) {
#if defined(__CUDA_ARCH__)
  return __expf(x);
#else
  return std::exp(x);
#endif
}
__device__ inline double fast_exp(double x) {
  return std::exp(x);
}
__device__ inline float fast_tan(float x) {
#if defined(__CUDA_ARCH__)
  return __tanf(x);
#else
  return std::tan(x);
#endif
}
__device__ inline double fast_tan(double x) {
  return std::tan(x);
}

}  // namespace hotaru::cuda
