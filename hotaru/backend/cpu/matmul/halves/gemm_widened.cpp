#include "hotaru/backend/cpu/matmul/halves/gemm_widened.h"

#include <algorithm>
#include <type_traits>

#include "hotaru/backend/cpu/grain.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/matmul/halves/reduced_rows.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

// Bytes of floats that few rows multiply before the next ones are made.
constexpr int64_t kNear = 1 << 17;

/// n elements, `stride` apart, as floats.
template <class T>
void widen_line(const T* x, int64_t stride, float* to, int64_t n) {
  if (stride == 1) return cpu::widen(x, to, n);
  for (int64_t j = 0; j < n; ++j) to[j] = float(x[j * stride]);
}

/// Panels of floats of a matrix that lies in memory.
template <class T>
class WidePanels final : public PanelSource<float> {
 public:
  explicit WidePanels(MatrixRef<T> b) : b_(b) {}

  void pack(int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t width,
            float* to) const override {
    const T* from = b_.data + row * b_.row_stride + col * b_.col_stride;
    if (b_.row_stride != 1 || b_.col_stride == 1) {
      for (int64_t p = 0; p < rows; ++p, to += width) {
        widen_line(from + p * b_.row_stride, b_.col_stride, to, cols);
        std::fill(to + cols, to + width, 0.0f);
      }
      return;
    }
    pack_lines(rows, cols, width, to,
               [&](int64_t j, int64_t p, int64_t count, float* line) {
                 cpu::widen(from + j * b_.col_stride + p, line, count);
               });
  }

 private:
  MatrixRef<T> b_;
};

/// Panels of a matrix that was packed as it is.
class PackedPanels final : public PanelSource<float> {
 public:
  explicit PackedPanels(PackedRef<Half> b) : b_(b) {}

  void pack(int64_t row, int64_t rows, int64_t col, int64_t, int64_t width,
            float* to) const override {
    cpu::widen(b_.data + col * b_.k + row * width, to, rows * width);
  }

 private:
  PackedRef<Half> b_;
};

/// Few rows times contiguous columns, as weights of linear layers have them:
/// some columns at a time become floats, and meet the rows at once.
template <class T>
void multiply_columns(int64_t m, int64_t n, int64_t k, float alpha,
                      MatrixRef<float> a, MatrixRef<T> b, float beta, float* c,
                      int64_t ldc) {
  const int64_t most =
      std::max<int64_t>(8, kNear / (k * int64_t{sizeof(float)}));
  for_areas(m, n, k, m, 8, [&](const Area& area) {
    float* wide =
        scratch<float>(ScratchUse::kNarrowPanel,
                       k * std::min(most, area.col_end - area.col_begin));
    for (int64_t col = area.col_begin; col < area.col_end; col += most) {
      const int64_t cols = std::min(most, area.col_end - col);
      for (int64_t j = 0; j < cols; ++j)
        cpu::widen(b.data + (col + j) * b.col_stride, wide + j * k, k);
      gemm_kernels<float>().dot(m, cols, k, a.data, a.row_stride, wide, k,
                                {c + col, ldc, alpha, beta});
    }
  });
}

constexpr int64_t kFewColumns = kPanelBytes / int64_t{sizeof(float)};

/// Few contiguous rows times columns that read(col, cols, sums) multiplies them
/// by, up to kFewColumns at a time: c = alpha sums + beta c.
template <class F>
void multiply_few(int64_t m, int64_t n, int64_t k, int64_t width, float alpha,
                  float beta, float* c, int64_t ldc, const F& read) {
  for_areas(m, n, k, m, width, [&](const Area& area) {
    float sums[cpu::kReducedRows * kFewColumns];
    for (int64_t col = area.col_begin; col < area.col_end; col += width) {
      const int64_t cols = std::min(width, area.col_end - col);
      read(col, cols, sums);
      for (int64_t i = 0; i < m; ++i) {
        float* to = c + i * ldc + col;
        for (int64_t j = 0; j < cols; ++j) {
          const float sum = alpha * sums[i * width + j];
          to[j] = beta == 0 ? sum : beta * to[j] + sum;
        }
      }
    }
  });
}

}  // namespace

template <class T>
MatrixRef<float> widened_matrix(int64_t m, int64_t k, MatrixRef<T> a,
                                ScratchUse use) {
  const bool by_column = a.row_stride == 1 && a.col_stride != 1;
  const MatrixRef<T> lines = by_column ? a.transposed() : a;
  const int64_t count = by_column ? k : m, size = by_column ? m : k;
  float* to = scratch<float>(use, m * k);
  parallel_for(0, count, cpu::row_grain(size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      widen_line(lines.data + i * lines.row_stride, lines.col_stride,
                 to + i * size, size);
  });
  if (by_column) return {to, 1, m};
  return {to, k, 1};
}

void add_nothing(int64_t m, int64_t n, float beta, float* c, int64_t ldc,
                 const Epilogue<float>& epilogue) {
  gemm<float>(m, n, 0, 1, {nullptr, 1, 1}, {nullptr, 1, 1}, beta, c, ldc,
              epilogue);
}

template <class T>
void gemm_widened(int64_t m, int64_t n, int64_t k, float alpha, MatrixRef<T> a,
                  MatrixRef<T> b, float beta, float* c, int64_t ldc,
                  const Epilogue<float>& epilogue) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0) return add_nothing(m, n, beta, c, ldc, epilogue);
  const MatrixRef<float> left = widened_matrix(m, k, a, ScratchUse::kBf16A);
  const GemmKernels<float>& kernels = gemm_kernels<float>();
  if (m <= cpu::kReducedRows && left.col_stride == 1 && b.row_stride == 1) {
    multiply_few(m, n, k, kFewColumns, alpha, beta, c, ldc,
                 [&](int64_t col, int64_t cols, float* sums) {
                   cpu::reduced_dots(m, cols, k, left.data, left.row_stride,
                                     b.data + col * b.col_stride, b.col_stride,
                                     sums, kFewColumns);
                 });
    return kernels.finish(c, ldc, m, n, epilogue);
  }
  if (m <= kernels.dot_rows && left.col_stride == 1 && b.row_stride == 1) {
    multiply_columns(m, n, k, alpha, left, b, beta, c, ldc);
    return kernels.finish(c, ldc, m, n, epilogue);
  }
  gemm_from_panels(m, n, k, alpha, left, WidePanels<T>(b), beta, c, ldc,
                   epilogue);
}

PackedRef<Half> pack_half(int64_t k, int64_t n, MatrixRef<Half> b, Half* to) {
  const int64_t width = gemm_kernels<float>().max_cols;
  for (int64_t col = 0; col < n; col += width) {
    const int64_t cols = std::min(width, n - col);
    for (int64_t p = 0; p < k; ++p) {
      const Half* from = b.data + p * b.row_stride + col * b.col_stride;
      Half* row = to + col * k + p * width;
      for (int64_t j = 0; j < cols; ++j) row[j] = from[j * b.col_stride];
      std::fill(row + cols, row + width, Half(0.0f));
    }
  }
  return {to, k, n};
}

PackedRef<float> widen_packed(PackedRef<Half> b, float* to) {
  const int64_t width = gemm_kernels<float>().max_cols;
  cpu::widen(b.data, to, detail::divide_up(b.n, width) * width * b.k);
  return {to, b.k, b.n};
}

template <class A>
void gemm_widened(int64_t m, float alpha, MatrixRef<A> a, PackedRef<Half> b,
                  float beta, float* c, int64_t ldc,
                  const Epilogue<float>& epilogue) {
  if (m <= 0 || b.n <= 0) return;
  if (b.k == 0) return add_nothing(m, b.n, beta, c, ldc, epilogue);
  MatrixRef<float> left;
  if constexpr (std::is_same_v<A, float>)
    left = a;
  else
    left = widened_matrix(m, b.k, a, ScratchUse::kBf16A);
  if (m <= cpu::kReducedRows && left.col_stride == 1) {
    const int64_t width = gemm_kernels<float>().max_cols;
    multiply_few(m, b.n, b.k, width, alpha, beta, c, ldc,
                 [&](int64_t col, int64_t, float* sums) {
                   cpu::reduced_rows(m, width, b.k, left.data, left.row_stride,
                                     b.data + col * b.k, width, sums, width);
                 });
    return gemm_kernels<float>().finish(c, ldc, m, b.n, epilogue);
  }
  gemm_from_panels(m, b.n, b.k, alpha, left, PackedPanels(b), beta, c, ldc,
                   epilogue);
}

#define HOTARU_INSTANTIATE(T) \
  template MatrixRef<float> widened_matrix(int64_t, int64_t, MatrixRef<T>, \
                                           ScratchUse); \
  template void gemm_widened(int64_t, int64_t, int64_t, float, MatrixRef<T>, \
                             MatrixRef<T>, float, float*, int64_t, \
                             const Epilogue<float>&);
HOTARU_INSTANTIATE(Half)
HOTARU_INSTANTIATE(BFloat16)
#undef HOTARU_INSTANTIATE
template void gemm_widened(int64_t, float, MatrixRef<Half>, PackedRef<Half>,
                           float, float*, int64_t, const Epilogue<float>&);
template void gemm_widened(int64_t, float, MatrixRef<float>, PackedRef<Half>,
                           float, float*, int64_t, const Epilogue<float>&);

}  // namespace hotaru
