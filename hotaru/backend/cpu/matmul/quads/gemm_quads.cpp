#include "hotaru/backend/cpu/matmul/quads/gemm_quads.h"

#include <algorithm>

#include "hotaru/backend/cpu/matmul/amx/tile_scope.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/matmul/int8/gemm_int8_kernel.h"
#include "hotaru/backend/cpu/scratch.h"

namespace hotaru {
namespace {

// Words of A packed at a time, which stay in the second-level cache, and of B
// where more rows than that read it again, in the third-level cache.
constexpr int64_t kRowWords = 64 << 10;
constexpr int64_t kPanelWords = 256 << 10;
// Columns whose sums few rows keep in the first-level cache.
constexpr int64_t kDotColumns = 512;

constexpr int64_t quads_of(int64_t k) {
  return (k + 3) / 4;
}

/// Words from row to row of A: not a multiple of the way of a cache.
int64_t row_words(int64_t k) {
  const int64_t words = (quads_of(k) + 15) / 16 * 16;
  return words % 256 == 0 ? words + 16 : words;
}

// A is to be unsigned, B signed.
int flip_a(const ByteMatrix& a) {
  return a.is_signed ? 0x80 : 0;
}
int flip_b(const ByteMatrix& b) {
  return b.is_signed ? 0 : 0x80;
}

/// Rows of A as quads; each filled up with zeros to a row's words.
class PackedRows {
 public:
  PackedRows(const Int8Product& p, int64_t most)
      : p_(p),
        stride_(row_words(p.k)),
        words_(scratch<int32_t>(ScratchUse::kGemmA, most * (stride_ + 2))),
        rows_(reinterpret_cast<QuadRow*>(words_ + most * stride_)) {}

  void fill(const QuadKernels& kernels, int64_t row, int64_t count) {
    const int flip = flip_a(p_.a);
    for (int64_t i = 0; i < count; ++i) {
      auto* to = reinterpret_cast<uint8_t*>(words_ + i * stride_);
      std::fill_n(words_ + i * stride_ + p_.k / 4, stride_ - p_.k / 4, 0);
      rows_[i] = {0, p_.a_zero[row + i] + flip};
      if (p_.k == 0) continue;
      const uint8_t* from = p_.a.data + (row + i) * p_.a.row_stride;
      int32_t& sum = rows_[i].sum;
      if (p_.a.col_stride == 1) {
        sum = kernels.copy(to, p_.k, from, flip);
      } else {
        for (int64_t j = 0; j < p_.k; ++j) {
          to[j] = uint8_t(from[j * p_.a.col_stride] ^ flip);
          sum = int32_t(uint32_t(sum) + to[j]);
        }
      }
    }
  }

  const int32_t* words(int64_t i) const { return words_ + i * stride_; }
  const QuadRow* rows(int64_t i) const { return rows_ + i; }
  int64_t stride() const { return stride_; }

 private:
  const Int8Product& p_;
  int64_t stride_;
  int32_t* words_;
  QuadRow* rows_;
};

/// Quads of a panel of a B without contiguous rows: its columns, transposed.
void pack_columns(const QuadKernels& kernels, int64_t k, int64_t cols,
                  const ByteMatrix& b, int32_t* to) {
  const int64_t quads = quads_of(k), width = kernels.max_cols;
  // Few quads at a time, as both sides of a transposition want to be near.
  constexpr int64_t kDepth = 256;
  const int64_t depth = std::min(quads, kDepth);
  auto* rows = scratch<int32_t>(ScratchUse::kInt8Columns, width * depth);
  std::fill_n(rows, width * depth, 0);
  const int flip = flip_b(b);
  for (int64_t begin = 0; begin < quads; begin += depth) {
    const int64_t count = std::min(depth, quads - begin);
    const int64_t length = std::min(4 * count, k - 4 * begin);
    for (int64_t j = 0; j < cols; ++j) {
      rows[j * depth + count - 1] = 0;
      auto* bytes = reinterpret_cast<uint8_t*>(rows + j * depth);
      const uint8_t* from =
          b.data + j * b.col_stride + 4 * begin * b.row_stride;
      if (b.row_stride == 1)
        kernels.copy(bytes, length, from, flip);
      else
        for (int64_t i = 0; i < length; ++i)
          bytes[i] = uint8_t(from[i * b.row_stride] ^ flip);
    }
    // Words are moved, whatever they mean.
    gemm_kernels<float>().pack(
        reinterpret_cast<float*>(to + begin * width), width, count,
        {reinterpret_cast<const float*>(rows), depth, 1});
  }
}

int64_t panel_words(const QuadKernels& kernels, int64_t k) {
  return (kQuadHeader + quads_of(k)) * kernels.max_cols;
}

/// Panels of columns [col, col + cols), the last one filled up with zeros.
void pack_panels(const QuadKernels& kernels, int64_t k, int64_t col,
                 int64_t cols, const ByteMatrix& b, const int32_t* zero,
                 int32_t* to) {
  const int64_t width = kernels.max_cols;
  int32_t zeros[128];
  for (int64_t j = 0; j < cols; j += width, to += panel_words(kernels, k)) {
    const int64_t count = std::min(width, cols - j);
    ByteMatrix at = b;
    if (k > 0) at.data += (col + j) * b.col_stride;
    int32_t* quads = to + kQuadHeader * width;
    if (b.col_stride == 1 || count == 1)
      kernels.pack(quads, k, int(count), at.data, b.row_stride, flip_b(b));
    else
      pack_columns(kernels, k, count, at, quads);
    for (int64_t i = 0; i < count; ++i)
      zeros[i] = zero[col + j + i] - flip_b(b);
    kernels.head(to, quads_of(k), k, int(count), zeros);
  }
}

void multiply_block(const QuadKernels& kernels, const Int8Product& p,
                    const PackedRows& a, int64_t row, int64_t rows,
                    const int32_t* panels, int64_t left, int64_t cols) {
  const int64_t width = kernels.max_cols, panel = panel_words(kernels, p.k);
  // Tiles of nearly equal height: a low rest would run at low speed.
  const int64_t tiles = detail::divide_up(rows, kernels.max_rows);
  for (int64_t col = 0; col < cols; col += width, panels += panel) {
    const int count = int(std::min(width, cols - col));
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t begin = rows * t / tiles, end = rows * (t + 1) / tiles;
      kernels.tile(int(end - begin), count, quads_of(p.k), a.words(begin),
                   a.stride(), a.rows(begin), panels,
                   p.out.at(row + begin, left + col));
    }
  }
}

void multiply_area(const QuadKernels& kernels, const Int8Product& p,
                   const Area& area) {
  const int64_t width = kernels.max_cols, panel = panel_words(kernels, p.k);
  const int64_t rows = area.row_end - area.row_begin;
  const int64_t fit =
      std::max<int64_t>(kRowWords / row_words(p.k), kernels.max_rows);
  const int64_t blocks = detail::divide_up(rows, fit);
  PackedRows a(p, detail::divide_up(rows, blocks));
  // Panels that are multiplied once are packed just before.
  const int64_t together =
      p.packed      ? area.col_end - area.col_begin
      : blocks == 1 ? width
                    : std::max<int64_t>(kPanelWords / panel, 1) * width;
  for (int64_t left = area.col_begin; left < area.col_end; left += together) {
    const int64_t cols = std::min(together, area.col_end - left);
    const int32_t* panels = nullptr;
    if (p.packed) {
      panels = p.packed + left / width * panel;
    } else {
      auto* to = scratch<int32_t>(ScratchUse::kGemmB,
                                  detail::divide_up(cols, width) * panel);
      pack_panels(kernels, p.k, left, cols, p.b, p.b_zero, to);
      panels = to;
    }
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t begin = area.row_begin + rows * block / blocks;
      const int64_t end = area.row_begin + rows * (block + 1) / blocks;
      if (blocks > 1 || left == area.col_begin)
        a.fill(kernels, begin, end - begin);
      multiply_block(kernels, p, a, begin, end - begin, panels, left, cols);
    }
  }
}

}  // namespace

void gemm_quads(const QuadKernels& kernels, const Int8Product& product) {
  for_areas(product.m, product.n, product.k, kernels.max_rows, kernels.max_cols,
            [&](const Area& area) {
              const amx::TileScope tiles(kernels.by_tiles);
              multiply_area(kernels, product, area);
            });
}

void few_rows_by_quads(const QuadKernels& kernels, const Int8Product& p) {
  for_areas(p.m, p.n, p.k, p.m, 16, [&](const Area& area) {
    PackedRows a(p, p.m);
    a.fill(kernels, 0, p.m);
    // Sums, then of each column its zero point and what rows' are times.
    const int64_t most = std::min(kDotColumns, area.col_end - area.col_begin);
    auto* sums = scratch<int32_t>(ScratchUse::kGemmB, (p.m + 2) * most);
    int32_t *zeros = sums + p.m * most, *heads = zeros + most;
    const int flip = flip_b(p.b);
    for (int64_t col = area.col_begin; col < area.col_end; col += most) {
      const int64_t cols = std::min(most, area.col_end - col);
      kernels.dot(int(p.m), cols, p.k,
                  reinterpret_cast<const uint8_t*>(a.words(0)), 4 * a.stride(),
                  p.b.data + col * p.b.col_stride, p.b.col_stride, flip, sums,
                  most, heads);
      for (int64_t j = 0; j < cols; ++j) {
        zeros[j] = p.b_zero[col + j] - flip;
        heads[j] =
            int32_t(uint32_t(heads[j]) - uint32_t(p.k) * uint32_t(zeros[j]));
      }
      for (int64_t i = 0; i < p.m; ++i) {
        kernels.correct(sums + i * most, cols, *a.rows(i), zeros, heads);
        int8_kernels().finish_rows(sums + i * most, 1, most, int(cols),
                                   p.out.at(i, col));
      }
    }
  });
}

void pack_quads(const QuadKernels& kernels, int64_t k, int64_t n,
                const ByteMatrix& b, const int32_t* b_zero, int32_t* to) {
  pack_panels(kernels, k, 0, n, b, b_zero, to);
}

}  // namespace hotaru
