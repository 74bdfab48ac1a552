// Matrix multiplication of complex numbers: four real products.
#pragma once

#include <complex>
#include <vector>

#include "hotaru/backend/common/product.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {

/// The real and the imaginary parts of a matrix, where they lie.
template <class R>
struct ComplexParts {
  explicit ComplexParts(MatrixRef<std::complex<R>> x)
      : re{reinterpret_cast<const R*>(x.data), 2 * x.row_stride,
           2 * x.col_stride},
        im{re.data + 1, re.row_stride, re.col_stride} {}

  MatrixRef<R> re, im;
};

/// Whether products of that size are worth the passes over their parts.
inline bool is_worth_parts(int64_t m, int64_t n, int64_t k) {
  return m >= 4 && n >= 8 && k >= 8;
}

/// See gemm(). Takes as much memory as C.
template <class R>
void gemm_complex(int64_t m, int64_t n, int64_t k, std::complex<R> alpha,
                  MatrixRef<std::complex<R>> a, MatrixRef<std::complex<R>> b,
                  std::complex<R> beta, std::complex<R>* c, int64_t ldc,
                  const Epilogue<std::complex<R>>& epilogue) {
  const ComplexParts<R> left(a), right(b);
  std::vector<R> parts(static_cast<size_t>(2 * m * n));
  R *re = parts.data(), *im = re + m * n;
  gemm<R>(m, n, k, R(1), left.re, right.re, R(0), re, n);
  gemm<R>(m, n, k, R(-1), left.im, right.im, R(1), re, n);
  gemm<R>(m, n, k, R(1), left.re, right.im, R(0), im, n);
  gemm<R>(m, n, k, R(1), left.im, right.re, R(1), im, n);
  const std::complex<R> one(1), zero(0);
  parallel_for(0, m, cpu::row_grain(n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::complex<R>* row = c + i * ldc;
      for (int64_t j = 0; j < n; ++j) {
        std::complex<R> sum(re[i * n + j], im[i * n + j]);
        if (alpha != one) sum = product(alpha, sum);
        if (beta == one)
          sum += row[j];
        else if (beta != zero)
          sum += product(beta, row[j]);
        if (epilogue.bias) sum += epilogue.bias[epilogue.bias_per_row ? i : j];
        row[j] = sum;
      }
    }
  });
}

}  // namespace hotaru
