// Parameters of kernels of products of 8-bit integers besides their operands.
#pragma once

#include "hotaru/backend/common/matmul/linear.h"

namespace hotaru {

/// Where a batch's row (or column) of numbers starts, and how far they are
/// apart, in elements; 0 repeats.
struct NumberStrides {
  int64_t batch = 0, step = 0;
};

/// Operands of "int8_matmul": write out [batch, m, n], row-major; read a and b,
/// each uint8 or int8; read a_zero and b_zero, zero points of the rows of a and
/// the columns of b in their dtypes (undefined: none); read a_scale and b_scale
/// of the same, y_scale and y_zero, a number each.
///   sums[i] = (a[i] - a_zero) @ (b[i] - b_zero)     in int32, which wraps
/// out is int32 sums, and the last four undefined; or, of y_zero's dtype,
///   saturate(round(sums * (a_scale * b_scale / y_scale)) + y_zero)
/// in float32, ties to even; or, with out float32, y_scale and y_zero
/// undefined, a_scale one number, and bias a tenth operand, [n] of float32 or
/// undefined,
///   float(sums) * (b_scale * a_scale) + bias     each step rounded.
/// With `packed`, batch is 1 and b is what
/// "pack_int8" wrote.
struct Int8MatmulAttributes {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  MatrixStrides a, b;
  NumberStrides a_zero, b_zero, a_scale, b_scale;
  bool packed = false;
};

/// Operands of "pack_int8": write packed int32 [packed_size(
/// int8_packed_rows(k), n, 4)], read b (k x n), read b_zero: the order in which
/// products on this device read b, and its zero points.
struct PackInt8Attributes {
  int64_t k = 1, n = 1;
  MatrixStrides b;
  int64_t b_zero = 0;  // the distance of two columns' zero points
};

/// Pairs along an inner dimension of k elements.
constexpr int64_t int8_pairs(int64_t k) {
  return (k + 1) / 2;
}

/// Rows of words that a packed matrix takes at most: pairs, or two more than
/// quads.
constexpr int64_t int8_packed_rows(int64_t k) {
  const int64_t quads = (k + 3) / 4 + 2;
  return int8_pairs(k) > quads ? int8_pairs(k) : quads;
}

}  // namespace hotaru
