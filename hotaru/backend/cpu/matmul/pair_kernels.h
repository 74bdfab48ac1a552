// The SIMD building blocks of products of bfloat16. Numbers come in pairs: two
// that follow each other along the depth share a lane of 32 bits, the first one
// in its lower half, and a product of lanes adds both products to a float.
#pragma once

#include <cstdint>

#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/core/half.h"

namespace hotaru {

/// Pairs along a depth of k elements; the second of the last one may be zero.
constexpr int64_t bf16_pairs(int64_t k) {
  return (k + 1) / 2;
}

/// Kernels whose A and B hold pairs, handled as floats that are only moved, and
/// whose depths count them; C is of floats. No offset_tile and no wide.
/// By instructions where the processor has them (AVX512-BF16), which take
/// subnormal numbers for zero; elsewhere tiles are low, and slower than those
/// of floats.
const GemmKernels<float>& pair_kernels();

/// Tells whether the processor has them.
bool has_pair_products();

/// How matrices become pairs. Floats are rounded to nearest, ties to even.
struct PairMakers {
  /// to[i] = (first[i], second[i]); without a second one, zeros.
  void (*pair)(float* to, int64_t n, const BFloat16* first,
               const BFloat16* second);
  void (*pair_floats)(float* to, int64_t n, const float* first,
                      const float* second);
  /// Rounds a line.
  void (*round)(const float* x, BFloat16* to, int64_t n);
  /// first[i] and second[i] of n pairs as floats.
  void (*split)(const float* pairs, int64_t n, float* first, float* second);
};

const PairMakers& pair_makers();

}  // namespace hotaru
