// Products that were summed up in parts.
#pragma once

#include "hotaru/backend/common/pointwise/activation.h"
#include "hotaru/backend/cuda/device/matmul/finish.h"

namespace hotaru::cuda {

template <class A>
__device__ A activate(Activation activation, A x) {
  switch (activation) {
    case Activation::kRelu:
      return x < A(0) ? A(0) : x;
    case Activation::kSigmoid:
      return vmath::sigmoid(x);
    case Activation::kTanh:
      return vmath::tanh(x);
    case Activation::kSilu:
      return formulas::Silu<A>()(x);
    case Activation::kGelu:
      return formulas::Gelu<A>()(x);
    case Activation::kGeluTanh:
      return formulas::GeluTanh<A>()(x);
    default:
      return x;
  }
}

/// The output that a thread has, of those that are numbered through.
struct Output {
  int64_t batch;
  uint32_t row, column;
  __device__ Output(const MatmulParams& p, uint32_t i) {
    const uint32_t above = p.columns.divide(i);
    column = i - above * p.n;
    const uint32_t matrix = p.rows.divide(above);
    row = above - matrix * p.m;
    batch = matrix;
  }
};

/// From the sums of all splits, in their order.
template <class T, class Params>
__device__ void join_splits(const Params& p) {
  using A = OpMath<T>;
  const int64_t outputs = matmul_outputs(p);
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= outputs) return;
  const auto* partial = static_cast<const A*>(p.workspace) + i;
  A sum = 0;
  HOTARU_NO_UNROLL
  for (uint32_t s = 0; s < p.splits; ++s, partial += outputs) sum += *partial;
  const Output o(p, i);
  Vector<T, 1> v;
  v.at[0] = narrow<T>(
      activate(p.activation, finish<T>(p, sum, o.batch, o.row, o.column)));
  store_run<T>(p, output_of<T>(p, uint32_t(o.batch)), o.row, o.column, 1, v);
}

}  // namespace hotaru::cuda
