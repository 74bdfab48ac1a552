// Products of 8-bit integers by AVX512-VNNI: four unsigned bytes of A times
// four signed ones of B are added to an int32 by one instruction, exactly.
// Bytes of the other kind become so by their highest bit, which moves them and
// their zero points by 128. Zero points stay in, and come off the sums:
//   sum (a - za)(b - zb) = sum ab - zb * sum a - za * (sum b - k zb)
// all of it in int32, which wraps.
#pragma once

#include "hotaru/backend/cpu/matmul/int8/gemm_int8.h"

namespace hotaru {

/// Words of a panel before its quads: of each column its zero point, and what
/// that of a row is multiplied by.
inline constexpr int64_t kQuadHeader = 2;

/// A row of A as quads.
struct QuadRow {
  int32_t sum, zero;
};

/// A sum without zero points: of its row, and the panel's words of its column.
inline int32_t corrected_sum(int32_t sum, const QuadRow& row, int32_t zero,
                             int32_t head) {
  return int32_t(uint32_t(sum) - uint32_t(zero) * uint32_t(row.sum) -
                 uint32_t(head) * uint32_t(row.zero));
}

struct QuadKernels {
  /// Largest block of one tile call, and the width of a panel.
  int max_rows, max_cols;

  /// rows x cols sums over `quads`. Row i of A begins at a + i * a_row; the
  /// panel's words are `max_cols` a row.
  void (*tile)(int rows, int cols, int64_t quads, const int32_t* a,
               int64_t a_row, const QuadRow* rows_of_a, const int32_t* panel,
               const Int8Output& out);
  /// The same of signed bytes of A and unsigned ones of B, whose row p starts
  /// at b + offsets[p], or without offsets at b + p * max_cols:
  ///   sums[j] - zero * row.sum - column_sums[j] * row.zero
  void (*conv_tile)(int rows, int cols, int64_t quads, const int32_t* a,
                    const QuadRow* rows_of_a, const int32_t* b,
                    const int64_t* offsets, int32_t zero,
                    const int32_t* column_sums, const Int8Output& out);
  /// sums[i] = first + the products of signed bytes of weights, `words` quads
  /// for each of `count` lines, with the line's unsigned bytes from i * step
  /// on; step: 1 or 2. Writes up to 15 elements behind n, and reads 128 bytes
  /// behind what it needs.
  void (*lines)(int32_t* sums, int64_t n, const uint8_t* const* lines,
                int count, int words, const int32_t* weights, int step,
                int32_t first);
  /// Words of rows[0][i] to rows[3][i], each ^ flip; a row may be null.
  void (*interleave)(int32_t* to, int64_t n, const uint8_t* const (&rows)[4],
                     int flip);
  /// to[i] = from[i * step].
  void (*each)(uint8_t* to, int64_t n, const uint8_t* from, int64_t step);
  void (*each_word)(int32_t* to, int64_t n, const int32_t* from, int64_t step);
  /// to[i] = from[i] ^ flip; returns the sum of to, as unsigned bytes.
  int32_t (*copy)(uint8_t* to, int64_t n, const uint8_t* from, int flip);
  /// Quads of a panel of k rows of B, each `cols` contiguous bytes, the others
  /// zero.
  void (*pack)(int32_t* quads, int64_t k, int cols, const uint8_t* b,
               int64_t row_stride, int flip);
  /// Writes the header of a panel whose quads are there; zero: of its `cols`
  /// columns, as of signed bytes.
  void (*head)(int32_t* panel, int64_t quads, int64_t k, int cols,
               const int32_t* zero);
  /// `rows` rows of A, a_row bytes apart and filled up to 64 bytes with zeros,
  /// times n contiguous columns of B: sums[i * sums_row + j], and the columns'
  /// own sums. B is read once and in order.
  void (*dot)(int rows, int64_t n, int64_t k, const uint8_t* a, int64_t a_row,
              const uint8_t* b, int64_t col_stride, int flip, int32_t* sums,
              int64_t sums_row, int32_t* column_sums);
  /// corrected_sum() of n columns.
  void (*correct)(int32_t* sums, int64_t n, const QuadRow& row,
                  const int32_t* zeros, const int32_t* heads);
  /// tile is by AMX, to be called within a TileScope (matmul/amx/).
  bool by_tiles = false;
};

/// Null where the processor lacks the instruction.
const QuadKernels* quad_kernels();

}  // namespace hotaru
