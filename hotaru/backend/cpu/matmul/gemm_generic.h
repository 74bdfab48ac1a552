// Matrix multiplication of complex numbers, where panels do not pay.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hotaru/backend/common/product.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {

/// sum += x row, for n elements that nothing else refers to meanwhile.
template <class T>
void add_multiple(int64_t n, T x, const T* __restrict row, T* __restrict sum) {
  for (int64_t j = 0; j < n; ++j) sum[j] += product(x, row[j]);
}

/// The same for four rows of B, `stride` apart, in their order: the sums are
/// loaded and stored once.
template <class T>
void add_multiples(int64_t n, const T (&x)[4], const T* __restrict rows,
                   int64_t stride, T* __restrict sum) {
  const T* row1 = rows + stride;
  const T* row2 = row1 + stride;
  const T* row3 = row2 + stride;
  for (int64_t j = 0; j < n; ++j) {
    T s = sum[j];
    s += product(x[0], rows[j]);
    s += product(x[1], row1[j]);
    s += product(x[2], row2[j]);
    s += product(x[3], row3[j]);
    sum[j] = s;
  }
}

/// See gemm(). Row by row, so that the inner loop runs along B's rows.
template <class T>
void gemm_generic(int64_t m, int64_t n, int64_t k, T alpha, MatrixRef<T> a,
                  MatrixRef<T> b, T beta, T* c, int64_t ldc,
                  const Epilogue<T>& epilogue) {
  if (m <= 0 || n <= 0) return;
  k = std::max<int64_t>(k, 0);
  constexpr int64_t kWork = 1 << 16;
  const int64_t grain = kWork / std::max<int64_t>(1, n * k) + 1;
  parallel_for(0, m, grain, [&](int64_t begin, int64_t end) {
    std::vector<T> sum(static_cast<size_t>(n));
    for (int64_t i = begin; i < end; ++i) {
      std::fill(sum.begin(), sum.end(), T(0));
      if (b.col_stride == 1 && n > 1) {
        const auto left = [&](int64_t p) {
          return a.data[i * a.row_stride + p * a.col_stride];
        };
        int64_t p = 0;
        for (; p + 4 <= k; p += 4)
          add_multiples(n, {left(p), left(p + 1), left(p + 2), left(p + 3)},
                        b.data + p * b.row_stride, b.row_stride, sum.data());
        for (; p < k; ++p)
          add_multiple(n, left(p), b.data + p * b.row_stride, sum.data());
      } else {
        for (int64_t j = 0; j < n; ++j) {
          T total(0);
          for (int64_t p = 0; p < k; ++p)
            total += product(a.data[i * a.row_stride + p * a.col_stride],
                             b.data[p * b.row_stride + j * b.col_stride]);
          sum[j] = total;
        }
      }
      T* row = c + i * ldc;
      for (int64_t j = 0; j < n; ++j) {
        T v = product(alpha, sum[j]);
        if (beta != T(0)) v += product(beta, row[j]);
        if (epilogue.bias != nullptr)
          v += epilogue.bias[epilogue.bias_per_row ? i : j];
        row[j] = v;
      }
    }
  });
}

}  // namespace hotaru
