// Products of 8-bit integers, exact in int32 (what it cannot hold wraps), and
// how sums become bytes or floats. Where the processor multiplies bytes they
// stay bytes (quads/); else elements are taken without their zero points as
// int16, two of the inner dimension side by side in an int32 (a pair): a
// product of pairs adds two products, which no values make overflow.
#pragma once

#include <cstdint>

#include "hotaru/backend/common/matmul/int8.h"

namespace hotaru {

/// A matrix of bytes by strides in elements.
struct ByteMatrix {
  const uint8_t* data;
  bool is_signed;
  int64_t row_stride, col_stride;
};

/// Where the sums of a tile go. Floats are
///   float(sum) * column_scale[j] + column_bias[j],
/// each step rounded. Bytes are
///   saturate(round(float(sum + bias) * scale) + zero),
/// ties to even, scale = row_scale[i] * column_scale[j] / divisor; of one alone
/// it is taken as it is.
struct Int8Output {
  enum class Kind : uint8_t { kSums, kFloats, kUnsigned, kSigned };

  void* data;      // int32_t, float, uint8_t or int8_t; rows are contiguous
  int64_t stride;  // from row to row, in elements
  Kind kind = Kind::kSums;
  const int32_t* bias = nullptr;  // one a row, or null
  const float* row_scale = nullptr;
  const float* column_scale = nullptr;
  const float* column_bias = nullptr;  // of floats, or null
  float divisor = 1;
  int32_t zero = 0;

  /// Bytes of an element.
  int64_t item() const { return kind <= Kind::kFloats ? 4 : 1; }
  /// Output that begins at that row and column of this one.
  Int8Output at(int64_t row, int64_t col) const {
    Int8Output out = *this;
    out.data = static_cast<char*>(data) + (row * stride + col) * item();
    if (bias) out.bias += row;
    if (row_scale) out.row_scale += row;
    if (column_scale) out.column_scale += col;
    if (column_bias) out.column_bias += col;
    return out;
  }
};

/// C = (A - a_zero) (B - b_zero), m x n from m x k and k x n. One zero point a
/// row of A and a column of B.
struct Int8Product {
  int64_t m, n, k;
  ByteMatrix a, b;
  const int32_t* a_zero;
  const int32_t* b_zero;
  /// B in panels, as pack_int8 wrote it with its zero points; or null.
  const int32_t* packed = nullptr;
  Int8Output out;
};

/// Parallel; the sizes may be zero. C overlaps nothing.
void gemm_int8(const Int8Product& product);

/// Rows up to which B is multiplied where it lies, so that packing it does not
/// pay.
inline constexpr int64_t kInt8FewRows = 8;

/// Writes the panels of B (k x n), at most packed_size(int8_packed_rows(k),
/// n, 4) elements.
void pack_int8(int64_t k, int64_t n, const ByteMatrix& b, const int32_t* b_zero,
               int32_t* to);

}  // namespace hotaru
