// Numbers of 16 bits as floats in memory of their own, for kernels that compute
// in floats and round once.
#pragma once

#include <cstdint>

#include "hotaru/backend/cpu/simd/reduced_simd.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {

/// Memory of n floats, as tensors have it.
inline Tensor floats(int64_t n) {
  return allocate(Dims{n}, DType::kFloat32, Device{});
}

/// n elements of x as floats; of null, no elements. T: Half, BFloat16.
template <class T>
Tensor widened(const T* x, int64_t n) {
  const Tensor to = floats(x ? n : 0);
  float* out = to.data<float>();
  parallel_for(0, to.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
    widen(x + begin, out + begin, end - begin);
  });
  return to;
}

template <class T>
void narrowed(const float* x, T* out, int64_t n) {
  parallel_for(0, n, kGrainSize, [&](int64_t begin, int64_t end) {
    narrow(x + begin, out + begin, end - begin);
  });
}

/// Gives out what write(sums) puts into memory of floats, rounded to T.
template <class T, class F>
void through_floats(T* out, int64_t n, const F& write) {
  const Tensor memory = floats(n);
  write(memory.data<float>());
  narrowed(memory.data<float>(), out, n);
}

/// write(sums) makes all n elements of out: of 16-bit numbers in floats, others
/// where they are.
template <class T, class F>
void rounded_once(T* out, int64_t n, const F& write) {
  if constexpr (kIsReduced<T>)
    through_floats(out, n, write);
  else
    write(out);
}

}  // namespace hotaru::cpu
