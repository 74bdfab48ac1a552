// What is done to the sum of an output's products.
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

}  // namespace hotaru::cuda
