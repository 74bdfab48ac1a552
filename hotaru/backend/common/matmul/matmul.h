// Parameters of the kernel "matmul" besides its operands.
#pragma once

#include "hotaru/core/scalar.h"

namespace hotaru {

/// Where a matrix of a batch starts and how far its rows and columns are
/// apart, in elements; 0 repeats.
struct MatrixStrides {
  int64_t batch = 0, row = 0, column = 0;
};

/// Operands: write out, read a, read b, read bias (undefined: none).
///   out[i] = beta * bias[i] + alpha * a[i] @ b[i]   for i in [0, batch)
/// out is row-major [batch, m, n]; a[i] is m x k, b[i] k x n, bias[i] m x n.
/// With beta 0 the bias is not read. With bf16, float32 elements of a and b may
/// be rounded to bfloat16; sums are in float32.
struct MatmulAttributes {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  MatrixStrides a, b, bias;
  Scalar alpha = 1, beta = 1;
  bool bf16 = false;
};

}  // namespace hotaru
