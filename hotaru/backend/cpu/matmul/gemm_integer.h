// Matrix multiplication of integers: of 32 or 64 bits where they lie, others as
// numbers of 32. What does not fit wraps, so only the low bits of sums matter,
// and these are the same whether numbers have signs or not.
#pragma once

#include <type_traits>
#include <vector>

#include "hotaru/backend/cpu/matmul/gemm_kernel.h"

namespace hotaru {

/// A matrix whose rows are contiguous, of as many low bits as U has.
template <class U, class T>
std::vector<U> low_bits(int64_t rows, int64_t cols, MatrixRef<T> x) {
  std::vector<U> to(size_t(rows * cols));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      to[size_t(i * cols + j)] =
          static_cast<U>(x.data[i * x.row_stride + j * x.col_stride]);
  return to;
}

/// See gemm().
template <class T>
void gemm_integer(int64_t m, int64_t n, int64_t k, T alpha, MatrixRef<T> a,
                  MatrixRef<T> b, T beta, T* c, int64_t ldc,
                  const Epilogue<T>& epilogue) {
  using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  if (m <= 0 || n <= 0) return;
  k = std::max<int64_t>(k, 0);
  const auto multiply = [&](MatrixRef<U> left, MatrixRef<U> right, U* to,
                            int64_t stride, const U* bias) {
    Epilogue<U> last;
    last.bias = bias;
    last.bias_per_row = epilogue.bias_per_row;
    gemm_by(gemm_kernels<U>(), m, n, k, static_cast<U>(alpha), left,
            Factor<U>{.matrix = right}, static_cast<U>(beta), to, stride, last);
  };
  if constexpr (sizeof(U) == sizeof(T)) {
    const auto as_unsigned = [](const T* x) {
      return reinterpret_cast<const U*>(x);
    };
    multiply({as_unsigned(a.data), a.row_stride, a.col_stride},
             {as_unsigned(b.data), b.row_stride, b.col_stride},
             reinterpret_cast<U*>(c), ldc, as_unsigned(epilogue.bias));
  } else {
    const std::vector<U> left = low_bits<U>(m, k, a),
                         right = low_bits<U>(k, n, b);
    std::vector<U> sums = beta == T(0)
                              ? std::vector<U>(size_t(m * n))
                              : low_bits<U>(m, n, MatrixRef<T>{c, ldc, 1});
    std::vector<U> bias;
    if (epilogue.bias)
      bias.assign(epilogue.bias,
                  epilogue.bias + (epilogue.bias_per_row ? m : n));
    multiply({left.data(), k, 1}, {right.data(), n, 1}, sums.data(), n,
             epilogue.bias ? bias.data() : nullptr);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        c[i * ldc + j] = static_cast<T>(sums[size_t(i * n + j)]);
  }
}

}  // namespace hotaru
