// Common parts of algorithms on small matrices. They know rows of numbers; the
// kernels around them take these from operands (operands.h).
#pragma once

#include <cmath>
#include <cstdint>

#include "hotaru/backend/common/linalg/scalar.h"
#include "hotaru/backend/common/product.h"
#include "hotaru/core/dtype.h"

namespace hotaru::cpu {

/// x /= divisor. Of complex numbers, whose quotients are a call each, by its
/// reciprocal if that is finite.
template <class T>
void divide(int64_t n, T divisor, T* x) {
  if constexpr (kIsComplex<T>) {
    const T inverse = T(1) / divisor;
    if (std::isfinite(magnitude(inverse))) {
      for (int64_t i = 0; i < n; ++i) x[i] = product(x[i], inverse);
      return;
    }
  }
  for (int64_t i = 0; i < n; ++i) x[i] /= divisor;
}

}  // namespace hotaru::cpu
