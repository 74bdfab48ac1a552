// Matrix multiplication on raw memory, C = act(alpha A B + beta C + bias), for
// every element type. float and double run SIMD kernels. Work is divided over
// parallel_for; results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <memory>

#include "hotaru/backend/common/matmul/linear.h"

namespace hotaru {

/// A matrix by strides in elements, so that a transposed matrix is the same
/// memory with the strides exchanged. Element (i, j) is
/// data[i * row_stride + j * col_stride].
template <class T>
struct MatrixRef {
  const T* data;
  int64_t row_stride;
  int64_t col_stride;

  MatrixRef transposed() const { return {data, col_stride, row_stride}; }
};

/// Steps on each element of C after the last product was added. Activations and
/// residuals are for floating numbers only.
template <class T>
struct Epilogue {
  /// n values (or m, if bias_per_row), or null.
  const T* bias = nullptr;
  bool bias_per_row = false;
  Activation activation = Activation::kNone;
  /// After the bias, for row i: c * scale[i] + shift[i]; both or neither. Not
  /// for products of one column.
  const T* scale = nullptr;
  const T* shift = nullptr;
  /// Then, before the activation, a matrix that is added; or null.
  const T* residual = nullptr;
  int64_t residual_stride = 0;  // from row to row

  bool empty() const {
    return !bias && !scale && !residual && activation == Activation::kNone;
  }
};

/// C (m x n, rows contiguous, ldc elements apart) from A (m x k) and B (k x n).
/// With beta == 0 C is not read. C overlaps neither A nor B. Half and BFloat16
/// accumulate in float; integers wrap. T: float, double, Half, BFloat16,
/// uint8_t, int8_t, int16_t, int32_t, int64_t, complex<float>,
/// complex<double>.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, OpMath<T> alpha, MatrixRef<T> a,
          MatrixRef<T> b, OpMath<T> beta, T* c, int64_t ldc,
          const Epilogue<T>& epilogue = {});

/// The same for matrices i = 0 .. batch - 1 that lie a_stride, b_stride and
/// c_stride elements apart; a stride of 0 shares A or B.
template <class T>
void gemm_batched(int64_t batch, int64_t m, int64_t n, int64_t k,
                  OpMath<T> alpha, MatrixRef<T> a, int64_t a_stride,
                  MatrixRef<T> b, int64_t b_stride, OpMath<T> beta, T* c,
                  int64_t ldc, int64_t c_stride,
                  const Epilogue<T>& epilogue = {});

/// B (k x n) in the order in which the kernels read it: panels of a width that
/// depends on the machine, each k rows of it, or pairs of rows; the last one
/// filled up with zeros. Borrows its memory. T: float, double, BFloat16, Half.
template <class T>
struct PackedRef {
  const T* data;
  int64_t k, n;
};

/// Writes at most packed_size(k, n, sizeof(T)) elements.
template <class T>
PackedRef<T> pack_matrix(int64_t k, int64_t n, MatrixRef<T> b, T* to);

/// One with memory of its own: for weights that multiply many times. Immutable,
/// so safe to share between threads.
template <class T>
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// Copies B (k x n), 16 % more memory than B at most beyond n = 192.
  PackedMatrix(int64_t k, int64_t n, MatrixRef<T> b);

  int64_t k() const { return k_; }
  int64_t n() const { return n_; }
  bool empty() const { return data_ == nullptr; }
  PackedRef<T> ref() const { return {data_.get(), k_, n_}; }

 private:
  struct Free {
    void operator()(T* p) const;
  };
  int64_t k_ = 0, n_ = 0;
  std::unique_ptr<T[], Free> data_;
};

/// gemm with a B that was packed before.
template <class T>
void gemm(int64_t m, OpMath<T> alpha, MatrixRef<T> a, PackedRef<T> b,
          OpMath<T> beta, T* c, int64_t ldc, const Epilogue<T>& epilogue = {});
template <class T>
void gemm(int64_t m, OpMath<T> alpha, MatrixRef<T> a, const PackedMatrix<T>& b,
          OpMath<T> beta, T* c, int64_t ldc, const Epilogue<T>& epilogue = {}) {
  gemm(m, alpha, a, b.ref(), beta, c, ldc, epilogue);
}

}  // namespace hotaru
