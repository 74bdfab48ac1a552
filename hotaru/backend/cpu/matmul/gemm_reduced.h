// Matrix multiplication of 16-bit floating numbers: as float, rounded once.
#pragma once

#include <algorithm>
#include <vector>

#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"

namespace hotaru {

/// A matrix as float; as before its rows or its columns are contiguous.
template <class T>
class Widened {
 public:
  Widened(int64_t rows, int64_t columns, MatrixRef<T> x)
      : by_column_(x.row_stride == 1 && x.col_stride != 1),
        size_(by_column_ ? rows : columns),
        data_(static_cast<size_t>(rows * columns)) {
    if (data_.empty()) return;  // lines of nothing have no address
    const MatrixRef<T> lines = by_column_ ? x.transposed() : x;
    parallel_for(0, by_column_ ? columns : rows, cpu::row_grain(size_),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     widen_line(lines.data + i * lines.row_stride,
                                lines.col_stride, data_.data() + i * size_);
                 });
  }
  MatrixRef<float> ref() const {
    const MatrixRef<float> lines{data_.data(), size_, 1};
    return by_column_ ? lines.transposed() : lines;
  }

 private:
  void widen_line(const T* x, int64_t stride, float* to) const {
    if (stride == 1) return cpu::widen(x, to, size_);
    for (int64_t j = 0; j < size_; ++j) to[j] = float(x[j * stride]);
  }

  bool by_column_;
  int64_t size_;
  std::vector<float> data_;
};

/// See gemm(). Takes four bytes of memory for each element of A, B and C.
template <class T>
void gemm_reduced(int64_t m, int64_t n, int64_t k, float alpha, MatrixRef<T> a,
                  MatrixRef<T> b, float beta, T* c, int64_t ldc,
                  const Epilogue<T>& epilogue) {
  if (m <= 0 || n <= 0) return;
  k = std::max<int64_t>(k, 0);
  const Widened<T> left(m, k, a), right(k, n, b);
  std::vector<float> sums(size_t(m * n));
  if (beta != 0)
    for (int64_t i = 0; i < m; ++i)
      cpu::widen(c + i * ldc, sums.data() + i * n, n);
  Epilogue<float> finish;
  std::vector<float> bias;
  if (epilogue.bias) {
    bias.resize(size_t(epilogue.bias_per_row ? m : n));
    cpu::widen(epilogue.bias, bias.data(), int64_t(bias.size()));
    finish.bias = bias.data();
    finish.bias_per_row = epilogue.bias_per_row;
  }
  gemm<float>(m, n, k, alpha, left.ref(), right.ref(), beta, sums.data(), n,
              finish);
  parallel_for(0, m, cpu::row_grain(n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      cpu::narrow(sums.data() + i * n, c + i * ldc, n);
  });
}

}  // namespace hotaru
