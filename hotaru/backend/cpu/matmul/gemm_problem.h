// One product of matrices, as the rows of the table of its algorithms take it.
#pragma once

#include <utility>

#include "hotaru/backend/cpu/matmul/gemm_kernel.h"

namespace hotaru {

/// See gemm_by(). B is panels that were packed before, a rule for packing them,
/// or a matrix. Where a table is only asked, operands have strides and no
/// memory.
template <class T>
struct GemmProblem {
  const GemmKernels<T>& kernels;
  int64_t m, n, k;
  T alpha, beta;
  MatrixRef<T> a, b;
  const T* packed;               // panels of B; or null, then source
  const PanelSource<T>* source;  // or null, then b
  T* c;
  int64_t ldc;
  Epilogue<T> epilogue;
};

/// The epilogue of the block of C that begins at a row and a column.
template <class T>
Epilogue<T> shifted(Epilogue<T> e, int64_t row, int64_t col) {
  if (e.bias != nullptr) e.bias += e.bias_per_row ? row : col;
  if (e.scale) e.scale += row, e.shift += row;
  if (e.residual) e.residual += row * e.residual_stride + col;
  return e;
}

/// Parts of an epilogue: what is done where a tile is stored, and what is left
/// for a pass over it.
template <class T>
struct Tail {
  explicit Tail(const GemmProblem<T>& p) : rest(p.epilogue) {
    if (p.beta == T(0) && !rest.bias_per_row)
      first = std::exchange(rest.bias, nullptr);
    if (rest.bias || rest.scale) return;
    last = std::exchange(rest.residual, nullptr);
    relu = rest.activation == Activation::kRelu;
    if (relu) rest.activation = Activation::kNone;
  }
  /// How a block of depth is added.
  TileOutput<T> output(const GemmProblem<T>& p, bool at_first,
                       bool at_last) const {
    TileOutput<T> out{p.c, p.ldc, p.alpha, at_first ? p.beta : T(1)};
    if (at_first && first) out.beta = T(1), out.d = first;
    if (at_last) {
      out.r = last;
      out.ldr = rest.residual_stride;
      out.relu = relu;
    }
    return out;
  }

  const T* first = nullptr;  // a row that the first block adds
  const T* last = nullptr;   // a matrix that the last one adds
  bool relu = false;
  Epilogue<T> rest;
};

// Algorithms. Which of them serves a product and pays says ways.cpp.

/// Few rows times a packed B, over its whole depth.
template <class T>
void multiply_panels(const GemmProblem<T>& p);
/// Few rows of contiguous A times a B with contiguous columns.
template <class T>
void multiply_dot(const GemmProblem<T>& p);
/// Few rows times a B with contiguous rows: long stretches of B's rows.
template <class T>
void multiply_wide(const GemmProblem<T>& p);
/// Areas of C by blocks of depth and columns, B packed unless it lies well
/// already.
template <class T>
void multiply_areas(const GemmProblem<T>& p);

/// Packs rows [row, row + rows) of columns [col, col + cols) into panels.
template <class T>
void pack_panels(const GemmKernels<T>& kernels, const PanelSource<T>& source,
                 int64_t row, int64_t rows, int64_t col, int64_t cols, T* to) {
  const int64_t width = kernels.max_cols;
  for (int64_t done = 0; done < cols; done += width)
    source.pack(row, rows, col + done, std::min(width, cols - done), width,
                to + done * rows);
}

}  // namespace hotaru
