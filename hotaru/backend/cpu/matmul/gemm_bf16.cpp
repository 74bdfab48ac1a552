#include "hotaru/backend/cpu/matmul/gemm_bf16.h"

#include <algorithm>
#include <cstdint>

#include "hotaru/backend/cpu/grain.h"
#include "hotaru/backend/cpu/matmul/amx/gemm_tiles.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/matmul/halves/gemm_widened.h"
#include "hotaru/backend/cpu/matmul/halves/reduced_rows.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

const BFloat16* halves(const Bf16Matrix& m, int64_t row, int64_t col) {
  return static_cast<const BFloat16*>(m.data) + row * m.row_stride +
         col * m.col_stride;
}

const float* floats(const Bf16Matrix& m, int64_t row, int64_t col) {
  return static_cast<const float*>(m.data) + row * m.row_stride +
         col * m.col_stride;
}

BFloat16 element(const Bf16Matrix& m, int64_t row, int64_t col) {
  return m.is_float ? BFloat16(*floats(m, row, col)) : *halves(m, row, col);
}

/// Makes the pairs of rows i and i + 1, columns [col, col + cols); a row that B
/// does not have is zeros.
void pair_rows(const Bf16Matrix& b, int64_t k, int64_t i, int64_t col,
               int64_t cols, float* to) {
  const bool both = i + 1 < k;
  if (b.col_stride != 1 && cols > 1) {
    auto* out = reinterpret_cast<BFloat16*>(to);
    for (int64_t j = 0; j < cols; ++j) {
      out[2 * j] = element(b, i, col + j);
      out[2 * j + 1] = both ? element(b, i + 1, col + j) : BFloat16(0.0f);
    }
  } else if (b.is_float) {
    pair_makers().pair_floats(to, cols, floats(b, i, col),
                              both ? floats(b, i + 1, col) : nullptr);
  } else {
    pair_makers().pair(to, cols, halves(b, i, col),
                       both ? halves(b, i + 1, col) : nullptr);
  }
}

/// Columns [row, row + rows) of pairs of column `col` of B as one line.
void round_column(const Bf16Matrix& b, int64_t k, int64_t col, int64_t pair,
                  int64_t pairs, float* to) {
  auto* out = reinterpret_cast<BFloat16*>(to);
  const int64_t begin = 2 * pair;
  const int64_t count = std::min(2 * pairs, k - begin);
  if (count < 2 * pairs) out[count] = BFloat16(0.0f);
  if (b.row_stride == 1 && b.is_float)
    pair_makers().round(floats(b, begin, col), out, count);
  else if (b.row_stride == 1)
    std::copy_n(halves(b, begin, col), count, out);
  else
    for (int64_t i = 0; i < count; ++i) out[i] = element(b, begin + i, col);
}

/// Where both numbers of each pair along the rows of A already lie side by
/// side.
bool is_paired(const Bf16Matrix& a, int64_t m, int64_t k) {
  return !a.is_float && a.col_stride == 1 && k % 2 == 0 &&
         (m == 1 || a.row_stride % 2 == 0) &&
         reinterpret_cast<uintptr_t>(a.data) % sizeof(float) == 0;
}

Bf16Matrix transposed(Bf16Matrix m) {
  std::swap(m.row_stride, m.col_stride);
  return m;
}

/// A (m x k) as pairs (m x bf16_pairs(k)), where it lies or in `use`.
MatrixRef<float> as_pairs(const Bf16Matrix& a, int64_t m, int64_t k,
                          ScratchUse use) {
  const int64_t pairs = bf16_pairs(k);
  if (is_paired(a, m, k))
    return {static_cast<const float*>(a.data), a.row_stride / 2, 1};
  float* to = scratch<float>(use, m * pairs);
  if (a.row_stride == 1 && a.col_stride != 1 && m > 1) {
    const Bf16Matrix lines = transposed(a);
    parallel_for(0, pairs, cpu::row_grain(m), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        pair_rows(lines, k, 2 * p, 0, m, to + p * m);
    });
    return {to, 1, m};
  }
  const Bf16Matrix columns = transposed(a);
  parallel_for(0, m, cpu::row_grain(k), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      round_column(columns, k, i, 0, pairs, to + i * pairs);
  });
  return {to, pairs, 1};
}

/// Panels of pairs of B (k x n).
class PairPanels final : public PanelSource<float> {
 public:
  PairPanels(const Bf16Matrix& b, int64_t k) : b_(b), k_(k) {}

  void pack(int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t width,
            float* to) const override {
    if (b_.col_stride == 1 || b_.row_stride != 1) {
      for (int64_t p = 0; p < rows; ++p, to += width) {
        pair_rows(b_, k_, 2 * (row + p), col, cols, to);
        std::fill(to + cols, to + width, 0.0f);
      }
      return;
    }
    pack_lines(rows, cols, width, to,
               [&](int64_t j, int64_t p, int64_t count, float* line) {
                 round_column(b_, k_, col + j, row + p, count, line);
               });
  }

 private:
  Bf16Matrix b_;
  int64_t k_;
};

/// Panels of floats of a B that was packed as pairs.
class SplitPanels final : public PanelSource<float> {
 public:
  explicit SplitPanels(PackedRef<BFloat16> b) : b_(b) {}

  void pack(int64_t row, int64_t rows, int64_t col, int64_t, int64_t width,
            float* to) const override {
    const auto* panel =
        reinterpret_cast<const float*>(b_.data) + col * bf16_pairs(b_.k);
    float* unused = scratch<float>(ScratchUse::kBf16Columns, width);
    for (int64_t i = row; i < row + rows;) {
      const float* pairs = panel + i / 2 * width;
      float* at = to + (i - row) * width;
      if (i % 2)
        pair_makers().split(pairs, width, unused, at), ++i;
      else if (i + 1 == row + rows)
        pair_makers().split(pairs, width, at, unused), ++i;
      else
        pair_makers().split(pairs, width, at, at + width), i += 2;
    }
  }

 private:
  PackedRef<BFloat16> b_;
};

/// A as floats, where it lies or in `use`.
MatrixRef<float> as_floats(const Bf16Matrix& a, int64_t m, int64_t k,
                           ScratchUse use) {
  if (a.is_float) return {floats(a, 0, 0), a.row_stride, a.col_stride};
  const MatrixRef<BFloat16> from{halves(a, 0, 0), a.row_stride, a.col_stride};
  return widened_matrix(m, k, from, use);
}

/// Few rows times a B whose rows or columns are contiguous.
void multiply_rows(int64_t m, int64_t n, int64_t k, float alpha,
                   const Bf16Matrix& a, const Bf16Matrix& b, float* c,
                   int64_t ldc, const Epilogue<float>& epilogue) {
  float* left = scratch<float>(ScratchUse::kBf16Rows, m * k);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p)
      left[i * k + p] = alpha * float(element(a, i, p));
  constexpr int64_t kColumns = 64;
  for_areas(m, n, k, m, kColumns, [&](const Area& area) {
    const int64_t col = area.col_begin, cols = area.col_end - col;
    const BFloat16* from = halves(b, 0, col);
    if (b.col_stride == 1)
      cpu::reduced_rows(m, cols, k, left, k, from, b.row_stride, c + col, ldc);
    else
      cpu::reduced_dots(m, cols, k, left, k, from, b.col_stride, c + col, ldc);
  });
  if (!epilogue.empty()) gemm_kernels<float>().finish(c, ldc, m, n, epilogue);
}

/// f(B as pairs).
template <class F>
void with_pairs(const Bf16Matrix& b, int64_t k, int64_t n, const F& f) {
  const PairPanels panels(b, k);
  Factor<float> right;
  // Columns that are pairs already need no copy of their own.
  if (is_paired(transposed(b), n, k))
    right.matrix = {static_cast<const float*>(b.data), 1, b.col_stride / 2};
  else
    right.source = &panels;
  f(right);
}

}  // namespace

// Few rows of a packed B go by vectors, which read it in one stream.
void gemm_pairs(int64_t m, int64_t n, int64_t k, float alpha,
                const Bf16Matrix& a, const Factor<float>& b, float beta,
                float* c, int64_t ldc, const Epilogue<float>& epilogue) {
  if (amx::has_products() && !(b.packed && m <= GemmKernels<float>::kFewRows))
    return amx::gemm_tiles(m, n, k, alpha, a, b, beta, c, ldc, epilogue);
  gemm_by(pair_kernels(), m, n, bf16_pairs(k), alpha,
          as_pairs(a, m, k, ScratchUse::kBf16A), b, beta, c, ldc, epilogue);
}

void gemm_bf16(int64_t m, int64_t n, int64_t k, float alpha,
               const Bf16Matrix& a, const Bf16Matrix& b, float beta, float* c,
               int64_t ldc, const Epilogue<float>& epilogue) {
  if (m <= 0 || n <= 0) return;
  k = std::max<int64_t>(k, 0);
  if (k == 0) return add_nothing(m, n, beta, c, ldc, epilogue);
  if (m <= cpu::kReducedRows && !b.is_float && n > 1 &&
      (b.col_stride == 1 || b.row_stride == 1) && beta == 0 &&
      !epilogue.residual && !epilogue.scale)
    return multiply_rows(m, n, k, alpha, a, b, c, ldc, epilogue);
  with_pairs(b, k, n, [&](const Factor<float>& right) {
    gemm_pairs(m, n, k, alpha, a, right, beta, c, ldc, epilogue);
  });
}

bool gemm_rounded(int64_t m, int64_t n, int64_t k, float alpha,
                  const Bf16Matrix& a, const Bf16Matrix& b, BFloat16* c,
                  int64_t ldc, const Epilogue<float>& epilogue) {
  if (!amx::has_products() || m <= cpu::kReducedRows || k <= 0) return false;
  with_pairs(b, k, n, [&](const Factor<float>& right) {
    amx::gemm_tiles(m, n, k, alpha, a, right, 0, nullptr, 0, epilogue, c, ldc);
  });
  return true;
}

PackedRef<BFloat16> pack_bf16(int64_t k, int64_t n, const Bf16Matrix& b,
                              BFloat16* to) {
  const int64_t width = pair_kernels().max_cols, pairs = bf16_pairs(k);
  const PairPanels panels(b, k);
  auto* out = reinterpret_cast<float*>(to);
  for (int64_t col = 0; col < n; col += width)
    panels.pack(0, pairs, col, std::min(width, n - col), width,
                out + col * pairs);
  return {to, k, n};
}

bool gemm_rounded(int64_t m, float alpha, const Bf16Matrix& a,
                  PackedRef<BFloat16> b, BFloat16* c, int64_t ldc,
                  const Epilogue<float>& epilogue) {
  if (!amx::has_products() || m <= GemmKernels<float>::kFewRows || b.n <= 0 ||
      b.k <= 0)
    return false;
  amx::gemm_tiles(m, b.n, b.k, alpha, a,
                  {.packed = reinterpret_cast<const float*>(b.data)}, 0,
                  nullptr, 0, epilogue, c, ldc);
  return true;
}

void gemm_bf16(int64_t m, float alpha, const Bf16Matrix& a,
               PackedRef<BFloat16> b, float beta, float* c, int64_t ldc,
               const Epilogue<float>& epilogue) {
  if (m <= 0 || b.n <= 0) return;
  if (b.k == 0) return add_nothing(m, b.n, beta, c, ldc, epilogue);
  if (suits_bf16(m))
    return gemm_pairs(m, b.n, b.k, alpha, a,
                      {.packed = reinterpret_cast<const float*>(b.data)}, beta,
                      c, ldc, epilogue);
  const SplitPanels panels(b);
  gemm_from_panels(m, b.n, b.k, alpha, as_floats(a, m, b.k, ScratchUse::kBf16A),
                   panels, beta, c, ldc, epilogue);
}

}  // namespace hotaru
