// Panels of a matrix that lies in memory.
#pragma once

#include <algorithm>

#include "hotaru/backend/cpu/matmul/gemm_kernel.h"

namespace hotaru {

/// Packs a matrix that lies in memory.
template <class T>
class MatrixSource final : public PanelSource<T> {
 public:
  MatrixSource(const GemmKernels<T>& kernels, MatrixRef<T> b)
      : kernels_(kernels), b_(b) {}

  void pack(int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t width,
            T* to) const override {
    const MatrixRef<T> from{b_.data + row * b_.row_stride + col * b_.col_stride,
                            b_.col_stride, b_.row_stride};
    if (cols == width) return kernels_.pack(to, width, rows, from);
    std::fill_n(to, width * rows, T(0));
    for (int64_t p = 0; p < rows; ++p) {
      for (int64_t j = 0; j < cols; ++j) {
        to[p * width + j] =
            from.data[j * from.row_stride + p * from.col_stride];
      }
    }
  }

 private:
  const GemmKernels<T>& kernels_;
  MatrixRef<T> b_;
};

}  // namespace hotaru
