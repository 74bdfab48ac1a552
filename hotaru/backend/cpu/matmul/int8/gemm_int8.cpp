#include "hotaru/backend/cpu/matmul/int8/gemm_int8.h"

#include <algorithm>

#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/matmul/int8/gemm_int8_kernel.h"
#include "hotaru/backend/cpu/matmul/quads/gemm_quads.h"
#include "hotaru/backend/cpu/scratch.h"

namespace hotaru {
namespace {

// Pairs of A packed at a time, which stay in the second-level cache, and of B
// where more rows than that read it again, in the third-level cache.
constexpr int64_t kRowPairs = 48 << 10;
constexpr int64_t kPanelPairs = 256 << 10;
// Rows up to which B by columns is multiplied by dot products in place.
constexpr int64_t kDotRows = 8;
// Columns of one pass over a B of long rows; their sums stay in the
// first-level cache.
constexpr int64_t kStreamCols = 2048;

int flip_of(const ByteMatrix& m) {
  return m.is_signed ? 0x80 : 0;
}

/// The zero point of flipped bytes.
int flipped(const ByteMatrix& m, int32_t zero) {
  return zero + flip_of(m);
}

/// Rows [row, row + rows) of A as pairs, one row after the other.
void pack_rows(const Int8Kernels& kernels, const Int8Product& p, int64_t row,
               int64_t rows, int32_t* to) {
  const int64_t pairs = int8_pairs(p.k);
  const int flip = flip_of(p.a);
  for (int64_t i = row; i < row + rows; ++i, to += pairs) {
    const uint8_t* from = p.a.data + i * p.a.row_stride;
    const int zero = flipped(p.a, p.a_zero[i]);
    auto* values = reinterpret_cast<int16_t*>(to);
    if (p.k % 2) values[p.k] = 0;
    if (p.a.col_stride == 1)
      kernels.widen(values, p.k, from, flip, zero);
    else
      for (int64_t j = 0; j < p.k; ++j)
        values[j] = int16_t((from[j * p.a.col_stride] ^ flip) - zero);
  }
}

/// A panel of a B without contiguous rows: its columns as pairs, transposed.
void pack_columns(const Int8Kernels& kernels, int64_t k, int64_t cols,
                  const ByteMatrix& b, const int32_t* zero, int32_t* to) {
  const int64_t pairs = int8_pairs(k), width = kernels.max_cols;
  // Few pairs at a time, as both sides of a transposition want to be near.
  constexpr int64_t kDepth = 256;
  const int64_t depth = std::min(pairs, kDepth);
  auto* rows = scratch<int32_t>(ScratchUse::kInt8Columns, width * depth);
  std::fill_n(rows, width * depth, 0);
  for (int64_t begin = 0; begin < pairs; begin += depth) {
    const int64_t count = std::min(depth, pairs - begin);
    const int64_t length = std::min(2 * count, k - 2 * begin);
    for (int64_t j = 0; j < cols; ++j) {
      auto* values = reinterpret_cast<int16_t*>(rows + j * depth);
      const uint8_t* from =
          b.data + j * b.col_stride + 2 * begin * b.row_stride;
      const int z = flipped(b, zero[j]);
      if (b.row_stride == 1)
        kernels.widen(values, length, from, flip_of(b), z);
      else
        for (int64_t i = 0; i < length; ++i)
          values[i] = int16_t((from[i * b.row_stride] ^ flip_of(b)) - z);
      if (length < 2 * count) values[length] = 0;
    }
    // Words are moved, whatever they mean.
    gemm_kernels<float>().pack(
        reinterpret_cast<float*>(to + begin * width), width, count,
        {reinterpret_cast<const float*>(rows), depth, 1});
  }
}

/// Panels of columns [col, col + cols), the last one filled up with zeros.
void pack_panels(const Int8Kernels& kernels, int64_t k, int64_t col,
                 int64_t cols, const ByteMatrix& b, const int32_t* zero,
                 int32_t* to) {
  ByteMatrix at = b;
  at.data += col * b.col_stride;
  if (b.col_stride == 1 || cols == 1) {
    auto* zeros = scratch<int32_t>(ScratchUse::kInt8Columns, cols);
    for (int64_t i = 0; i < cols; ++i) zeros[i] = flipped(b, zero[col + i]);
    kernels.pack(to, k, cols, at.data, b.row_stride, flip_of(b), zeros);
    return;
  }
  const int64_t width = kernels.max_cols;
  for (int64_t j = 0; j < cols; j += width, to += width * int8_pairs(k)) {
    pack_columns(kernels, k, std::min(width, cols - j), at, zero + col + j, to);
    at.data += width * b.col_stride;
  }
}

/// Rows of one block of A times panels of B for columns [left, left + cols).
void multiply_block(const Int8Kernels& kernels, const Int8Product& p,
                    const int32_t* a, int64_t row, int64_t rows,
                    const int32_t* panels, int64_t left, int64_t cols) {
  const int64_t pairs = int8_pairs(p.k), width = kernels.max_cols;
  // Tiles of nearly equal height: a low rest would run at low speed.
  const int64_t tiles = detail::divide_up(rows, kernels.max_rows);
  for (int64_t col = 0; col < cols; col += width, panels += width * pairs) {
    const int count = int(std::min(width, cols - col));
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t begin = rows * t / tiles, end = rows * (t + 1) / tiles;
      kernels.tile(int(end - begin), count, pairs, a + begin * pairs, pairs,
                   panels, p.out.at(row + begin, left + col));
    }
  }
}

void multiply_area(const Int8Kernels& kernels, const Int8Product& p,
                   const Area& area) {
  const int64_t pairs = int8_pairs(p.k), width = kernels.max_cols;
  const int64_t rows = area.row_end - area.row_begin;
  const int64_t fit = std::max<int64_t>(kRowPairs / std::max<int64_t>(pairs, 1),
                                        kernels.max_rows);
  const int64_t blocks = detail::divide_up(rows, fit);
  const int64_t most = detail::divide_up(rows, blocks);
  auto* a = scratch<int32_t>(ScratchUse::kGemmA, most * pairs);
  // Panels that are multiplied once are packed just before.
  const int64_t panel = std::max<int64_t>(width * pairs, 1);
  const int64_t together =
      p.packed      ? area.col_end - area.col_begin
      : blocks == 1 ? kInt8Together
                    : std::max<int64_t>(kPanelPairs / panel, 1) * width;
  for (int64_t left = area.col_begin; left < area.col_end; left += together) {
    const int64_t cols = std::min(together, area.col_end - left);
    const int32_t* panels = p.packed + left * pairs;
    if (!p.packed) {
      auto* to = scratch<int32_t>(ScratchUse::kGemmB,
                                  detail::divide_up(cols, width) * panel);
      pack_panels(kernels, p.k, left, cols, p.b, p.b_zero, to);
      panels = to;
    }
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t begin = area.row_begin + rows * block / blocks;
      const int64_t end = area.row_begin + rows * (block + 1) / blocks;
      if (blocks > 1 || left == area.col_begin)
        pack_rows(kernels, p, begin, end - begin, a);
      multiply_block(kernels, p, a, begin, end - begin, panels, left, cols);
    }
  }
}

/// sum -= a_sum * b_zero of each column, as B's zero points were left in.
void take_off_zeros(const Int8Product& p, const int32_t* a, int64_t col,
                    int64_t cols, int32_t* sums) {
  uint32_t total = 0;
  const auto* values = reinterpret_cast<const int16_t*>(a);
  for (int64_t j = 0; j < p.k; ++j) total += uint32_t(values[j]);
  for (int64_t j = 0; j < cols; ++j)
    sums[j] = int32_t(uint32_t(sums[j]) - total * uint32_t(p.b_zero[col + j]));
}

/// Few rows of A times B where it lies: by its rows, or by its columns.
void multiply_in_place(const Int8Kernels& kernels, const Int8Product& p,
                       bool by_rows) {
  const int64_t pairs = int8_pairs(p.k);
  for_areas(p.m, p.n, p.k, p.m, 64, [&](const Area& area) {
    auto* a = scratch<int32_t>(ScratchUse::kGemmA, p.m * pairs);
    pack_rows(kernels, p, 0, p.m, a);
    const int64_t most = std::min(kStreamCols, area.col_end - area.col_begin);
    const int64_t step = detail::divide_up(most, 64) * 64;
    auto* sums = scratch<int32_t>(ScratchUse::kGemmB, p.m * step);
    for (int64_t col = area.col_begin; col < area.col_end; col += step) {
      const int64_t cols = std::min(step, area.col_end - col);
      const int64_t row_step =
          by_rows ? detail::divide_up(cols, 64) * 64 : step;
      ByteMatrix b = p.b;
      b.data += col * b.col_stride;
      if (by_rows) kernels.stream(int(p.m), cols, p.k, a, pairs, b, sums);
      for (int64_t i = 0; i < p.m; ++i) {
        int32_t* row = sums + i * row_step;
        const int32_t* from = a + i * pairs;
        if (!by_rows)
          kernels.dot(cols, p.k, reinterpret_cast<const int16_t*>(from), b,
                      row);
        take_off_zeros(p, from, col, cols, row);
        kernels.finish_rows(row, 1, cols, cols, p.out.at(i, col));
      }
    }
  });
}

}  // namespace

void gemm_int8(const Int8Product& product) {
  Int8Product p = product;
  if (p.m <= 0 || p.n <= 0) return;
  const Int8Kernels& kernels = int8_kernels();
  // A stride over one element means nothing; the natural one helps the choice.
  if (p.k <= 1) p.a.col_stride = p.b.row_stride = 1;
  if (p.n == 1) p.b.col_stride = 1;
  const QuadKernels* quads = quad_kernels();
  if (p.k > 0 && !p.packed) {
    if (p.b.row_stride == 1 && p.m <= kDotRows)
      return quads ? few_rows_by_quads(*quads, p)
                   : multiply_in_place(kernels, p, false);
    if (p.b.col_stride == 1 && p.m <= kInt8FewRows)
      return multiply_in_place(kernels, p, true);
  }
  if (quads) return gemm_quads(*quads, p);
  for_areas(p.m, p.n, p.k, kernels.max_rows, kernels.max_cols,
            [&](const Area& area) { multiply_area(kernels, p, area); });
}

void pack_int8(int64_t k, int64_t n, const ByteMatrix& b, const int32_t* b_zero,
               int32_t* to) {
  if (n <= 0) return;
  if (const QuadKernels* quads = quad_kernels())
    return pack_quads(*quads, k, n, b, b_zero, to);
  if (k > 0) pack_panels(int8_kernels(), k, 0, n, b, b_zero, to);
}

}  // namespace hotaru
