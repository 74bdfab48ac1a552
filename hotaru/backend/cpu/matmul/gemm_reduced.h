// Matrix multiplication of 16-bit floating numbers: as float, rounded once.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/backend/cpu/matmul/gemm_bf16.h"
#include "hotaru/backend/cpu/scratch.h"
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

/// C = act(beta C + bias + residual + product) of 16-bit floats: multiply(sums,
/// beta, epilogue) adds the product in float, rows n apart; rounded once. No
/// scale and shift.
template <class T, class F>
void through_sums(int64_t m, int64_t n, float beta, T* c, int64_t ldc,
                  const Epilogue<T>& epilogue, const F& multiply) {
  float* sums = scratch<float>(ScratchUse::kReducedSums, m * n);
  const T* added = beta != 0 ? c : epilogue.residual;
  const int64_t stride = beta != 0 ? ldc : epilogue.residual_stride;
  if (added)
    for (int64_t i = 0; i < m; ++i)
      cpu::widen(added + i * stride, sums + i * n, n);
  Epilogue<float> finish;
  finish.activation = epilogue.activation;
  std::vector<float> bias;
  if (epilogue.bias) {
    bias.resize(size_t(epilogue.bias_per_row ? m : n));
    cpu::widen(epilogue.bias, bias.data(), int64_t(bias.size()));
    finish.bias = bias.data();
    finish.bias_per_row = epilogue.bias_per_row;
  }
  multiply(sums, beta != 0 ? beta : added ? 1.0f : 0.0f, finish);
  parallel_for(0, m, cpu::row_grain(n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      cpu::narrow(sums + i * n, c + i * ldc, n);
  });
}

/// See gemm(). Takes four bytes of memory for each element of C, and of A and B
/// where the processor has no products of their numbers. Not beta and a
/// residual at once.
template <class T>
void gemm_reduced(int64_t m, int64_t n, int64_t k, float alpha, MatrixRef<T> a,
                  MatrixRef<T> b, float beta, T* c, int64_t ldc,
                  const Epilogue<T>& epilogue) {
  if (m <= 0 || n <= 0) return;
  k = std::max<int64_t>(k, 0);
  through_sums(m, n, beta, c, ldc, epilogue,
               [&](float* sums, float add, const Epilogue<float>& finish) {
                 if constexpr (std::is_same_v<T, BFloat16>)
                   if (suits_bf16(m))
                     return gemm_bf16(m, n, k, alpha, a, b, add, sums, n,
                                      finish);
                 const Widened<T> left(m, k, a), right(k, n, b);
                 gemm<float>(m, n, k, alpha, left.ref(), right.ref(), add, sums,
                             n, finish);
               });
}

}  // namespace hotaru
