// Few rows of floats times many rows of narrow weights: the SIMD parts of
// "weight_only_linear", chosen at run time. Each byte of the weights is read
// once and in order; numbers are widened in registers, sums are floats.
#pragma once

#include <cstdint>

#include "hotaru/core/half.h"

namespace hotaru::cpu {

/// m rows of k floats, `stride` apart.
struct FewRows {
  const float* x;
  int64_t stride;
  int64_t m, k;
};

/// Where results go: row i of x times row j of the weights to
/// data[i * stride + j].
struct FewSums {
  float* data;
  int64_t stride;
};

struct WeightOnlyKernels {
  /// n rows of k int8, without their scales.
  void (*int8)(const FewRows& x, int64_t n, const int8_t* w,
               const FewSums& out);
  /// n rows of k / 32 blocks Q8_0.
  void (*q8_0)(const FewRows& x, int64_t n, const uint8_t* w,
               const FewSums& out);
  /// n rows of k / 32 blocks Q4_0, of x as q4_0_order() made it.
  void (*q4_0)(const FewRows& x, int64_t n, const uint8_t* w,
               const FewSums& out);
  /// A row of k floats in the form and order in which q4_0 reads them, in
  /// q4_0_size(k) floats.
  void (*q4_0_order)(const float* x, int64_t k, float* to);
  int64_t (*q4_0_size)(int64_t k);
};

/// A block of kInt4Rows rows as PyTorch's CPU kernels have them
/// (NarrowLayout::kInt4), with scales in float or bfloat16.
template <class S>
struct Int4Block {
  const uint8_t* w;
  int64_t group;    // columns that have a scale together
  const S* scales;  // of the first group: scale and zero of each row
  int64_t apart;    // from a group's scales to the next one's
};

/// The sums of each row of x with a block's rows.
struct Int4Products {
  void (*floats)(const FewRows& x, const Int4Block<float>& block,
                 const FewSums& out);
  void (*bf16)(const FewRows& x, const Int4Block<BFloat16>& block,
               const FewSums& out);

  void operator()(const FewRows& x, const Int4Block<float>& block,
                  const FewSums& out) const {
    floats(x, block, out);
  }
  void operator()(const FewRows& x, const Int4Block<BFloat16>& block,
                  const FewSums& out) const {
    bf16(x, block, out);
  }
};

struct Int4Kernels {
  Int4Products multiply;
  /// A group's columns as floats: to[i * kInt4Rows + row] for column i.
  void (*widen)(int64_t group, const uint8_t* w, const float* scales,
                float* to);
};

const WeightOnlyKernels& weight_only_kernels();
const Int4Kernels& int4_kernels();

/// The same without vectors: for processors that have none known here, and to
/// test the others by.
WeightOnlyKernels plain_weight_only_kernels();
Int4Kernels plain_int4_kernels();

}  // namespace hotaru::cpu
