// Matrix multiplication of complex numbers: one real product, for which A and C
// stay as they are, 2k and 2n real columns.
#pragma once

#include <complex>
#include <vector>

#include "hotaru/backend/common/product.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"

namespace hotaru {

/// Panels of real numbers that complex A is multiplied by: each element x + iy
/// of B times a factor becomes (x y; -y x).
template <class R>
class ComplexPanels final : public PanelSource<R> {
 public:
  ComplexPanels(std::complex<R> factor, MatrixRef<std::complex<R>> b)
      : factor_(factor), b_(b) {}

  void pack(int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t width,
            R* to) const override {
    // Rows that are as they should be already are not copied before.
    const bool direct = b_.col_stride == 1 && factor_ == std::complex<R>(1);
    std::vector<std::complex<R>> line(direct ? 0 : size_t(cols / 2));
    for (int64_t p = row; p < row + rows; ++p, to += width) {
      const auto* from =
          b_.data + p / 2 * b_.row_stride + col / 2 * b_.col_stride;
      if (!direct && (p == row || p % 2 == 0)) read(from, line);
      const R* x = reinterpret_cast<const R*>(direct ? from : line.data());
      if (p % 2 == 0)
        std::copy_n(x, cols, to);
      else
        for (int64_t j = 0; j < cols; j += 2)
          to[j] = -x[j + 1], to[j + 1] = x[j];
      std::fill(to + cols, to + width, R(0));
    }
  }

 private:
  void read(const std::complex<R>* x,
            std::vector<std::complex<R>>& line) const {
    if (b_.col_stride == 1)
      std::copy_n(x, line.size(), line.data());
    else
      for (size_t j = 0; j < line.size(); ++j)
        line[j] = x[int64_t(j) * b_.col_stride];
    if (factor_.imag() == 0) {
      if (factor_.real() == 1) return;
      for (std::complex<R>& z : line) z *= factor_.real();
    } else {
      for (std::complex<R>& z : line) z = product(factor_, z);
    }
  }

  std::complex<R> factor_;
  MatrixRef<std::complex<R>> b_;
};

/// See gemm(). An A whose rows are not contiguous is copied.
template <class R>
void gemm_complex(int64_t m, int64_t n, int64_t k, std::complex<R> alpha,
                  MatrixRef<std::complex<R>> a, MatrixRef<std::complex<R>> b,
                  std::complex<R> beta, std::complex<R>* c, int64_t ldc,
                  const Epilogue<std::complex<R>>& epilogue) {
  using C = std::complex<R>;
  std::vector<C> rows;
  if (a.col_stride != 1) {
    rows.resize(size_t(m * k));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < k; ++p)
        rows[size_t(i * k + p)] = a.data[i * a.row_stride + p * a.col_stride];
    a = {rows.data(), k, 1};
  }
  Epilogue<R> finish;
  if (!epilogue.bias_per_row)
    finish.bias = reinterpret_cast<const R*>(epilogue.bias);
  const bool by_row = epilogue.bias && epilogue.bias_per_row;
  if (by_row || beta.imag() != 0) {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        C& x = c[i * ldc + j];
        x = beta == C(0) ? C(0) : product(beta, x);
        if (by_row) x += epilogue.bias[i];
      }
    beta = C(1);
  }
  gemm_from_panels<R>(m, 2 * n, 2 * k, R(1),
                      {reinterpret_cast<const R*>(a.data), 2 * a.row_stride, 1},
                      ComplexPanels<R>(alpha, b), beta.real(),
                      reinterpret_cast<R*>(c), 2 * ldc, finish);
}

}  // namespace hotaru
