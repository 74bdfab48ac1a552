// Attributes of the random kernels. Every one updates a generator operand, so
// that draws happen in program order.
#pragma once

#include <cstdint>

namespace hotaru {

enum class Draw : uint8_t {
  kUniform,      // in [a, b)
  kNormal,       // mean a, standard deviation b
  kExponential,  // rate a
  kBernoulli,    // 1 with probability a
  kInteger,      // from + draw % range; range 0: any 64 bits
  kFullInteger,  // the whole range of the dtype
  kPermutation,  // of 0 .. n-1
  kKept,         // as kBernoulli, for dropout of elements of `range` bytes
  kCauchy,       // median a, half the width at half of the maximum b
  kLogNormal,    // the exponential of kNormal
  kGeometric,    // trials up to the first success, of probability a
};

/// Kernel "random": operands result, generator. Elements are drawn in the
/// order in which they lie in memory.
struct DrawAttributes {
  Draw draw = Draw::kUniform;
  double a = 0, b = 1;
  uint64_t range = 0;
  int64_t from = 0;
};

}  // namespace hotaru
