// The SIMD building blocks of products of 8-bit integers, as one table for the
// instruction set of this machine. Bytes are read as unsigned ones: of signed
// ones the highest bit is flipped, which adds 128, as their zero points do.
#pragma once

#include "hotaru/backend/cpu/matmul/int8/gemm_int8.h"

namespace hotaru {

/// Columns that are packed side by side: some lines of memory, some panels.
inline constexpr int64_t kInt8Together = 128;

struct Int8Kernels {
  /// Largest block of one tile call, and the width of a panel.
  int max_rows, max_cols;

  /// rows x cols sums over `pairs` pairs. Row i of A begins at a + i * a_row,
  /// row p of B at b + p * max_cols; all max_cols of it are read.
  void (*tile)(int rows, int cols, int64_t pairs, const int32_t* a,
               int64_t a_row, const int32_t* b, const Int8Output& out);
  /// The same for a B whose row p starts at b + offsets[p].
  void (*offset_tile)(int rows, int cols, int64_t pairs, const int32_t* a,
                      int64_t a_row, const int32_t* b, const int64_t* offsets,
                      const Int8Output& out);
  /// to[i] = (from[i] ^ flip) - zero.
  void (*widen)(int16_t* to, int64_t n, const uint8_t* from, int flip,
                int zero);
  /// Pairs of first[i] and second[i], each as widen makes it.
  void (*pair)(int32_t* to, int64_t n, const uint8_t* first,
               const uint8_t* second, int flip, int zero);
  /// Pairs of first[2 * i] and second[2 * i].
  void (*pair_even)(int32_t* to, int64_t n, const uint8_t* first,
                    const uint8_t* second, int flip, int zero);
  /// A panel of rows p, each put together from runs: from b + offsets[p] +
  /// from[r] to its columns at[r] and on. Reads max_cols of each run, and
  /// writes as many behind the panel's end.
  void (*gather)(int32_t* to, int64_t pairs, const int32_t* b,
                 const int64_t* offsets, int runs, const int64_t* from,
                 const int64_t* at);
  /// The panels of B's k contiguous rows, the last one filled up with zeros;
  /// zero: the columns' zero points, flipped.
  void (*pack)(int32_t* to, int64_t k, int64_t cols, const uint8_t* b,
               int64_t row_stride, int flip, const int32_t* zero);
  /// Products of few rows with a B of contiguous rows, which is read once:
  /// sums of n columns, n rounded up to 64 from row to row. A holds pairs.
  void (*stream)(int rows, int64_t n, int64_t k, const int32_t* a,
                 int64_t a_row, const ByteMatrix& b, int32_t* sums);
  /// Product of one row with a B of contiguous columns. A has k elements.
  void (*dot)(int64_t n, int64_t k, const int16_t* a, const ByteMatrix& b,
              int32_t* sums);
  /// Rows of sums, `stride` apart, n of each, to where they go.
  void (*finish_rows)(const int32_t* sums, int rows, int64_t stride, int64_t n,
                      const Int8Output& out);
};

/// Chosen at run time.
const Int8Kernels& int8_kernels();

}  // namespace hotaru
