// Last steps on the sum of an output's products, and where it goes.
#pragma once

#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/matmul.h"

namespace hotaru::cuda {

/// alpha scale sum + beta bias + residual of an output.
template <class T>
__device__ inline OpMath<T> finish(const MatmulParams& p, OpMath<T> sum,
                                   int64_t i, uint32_t r, uint32_t c) {
  using A = OpMath<T>;
  const auto element = [](const void* from, int64_t at) {
    return load<T>(static_cast<const Stored<T>*>(from) + at);
  };
  A alpha = A(p.alpha);
  if (p.scale) alpha *= element(p.scale, 0);
  A x = alpha * sum;
  if (p.bias)
    x += A(p.beta) *
         element(p.bias, i * p.bias_at.batch + int64_t(r) * p.bias_at.row +
                             int64_t(c) * p.bias_at.column);
  if (p.residual)
    x += element(p.residual, int64_t(r) * p.residual_row + int64_t(c));
  return x;
}

/// The first output of a product of the batch.
template <class T>
__device__ inline Stored<T>* output_of(const MatmulParams& p, uint32_t i) {
  return static_cast<Stored<T>*>(p.out) + int64_t(i) * p.out_batch;
}

/// Writes the first `count` of neighbours in row r from column c on.
template <class T, uint32_t kRun>
__device__ inline void store_run(const MatmulParams& p, Stored<T>* out,
                                 uint32_t r, uint32_t c, uint32_t count,
                                 const Vector<T, kRun>& v) {
  Stored<T>* to = out + int64_t(r) * p.out_row + c;
  if (kRun > 1 && p.out_vectors && count == kRun) {
    store_vector(to, v);
  } else {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kRun; ++j)
      if (j < count) to[j] = v.at[j];
  }
}

}  // namespace hotaru::cuda
