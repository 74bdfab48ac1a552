// The SIMD building blocks of matrix multiplication and convolution, as one
// table per element type for the instruction set of this machine.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/backend/cpu/scratch.h"

namespace hotaru {

/// A rows x cols block of C and how it is updated: C = alpha A B + beta C. The
/// rest is for tile and few_tile, C = relu(alpha A B + beta D + R), where D and
/// R are matrices of contiguous rows, and D is C if it is null.
template <class T>
struct TileOutput {
  T* c;
  int64_t ldc;
  T alpha;
  T beta;
  const T* d = nullptr;
  int64_t ldd = 0;
  const T* r = nullptr;
  int64_t ldr = 0;
  bool relu = false;

  /// Output that begins at that row and column of this one.
  TileOutput at(int64_t row, int64_t col) const {
    TileOutput out = *this;
    out.c += row * ldc + col;
    if (d) out.d += row * ldd + col;
    if (r) out.r += row * ldr + col;
    return out;
  }
};

/// A as the kernels read it: element (i, p) at data[i * row + p * depth].
template <class T>
struct TileA {
  const T* data;
  int64_t row;
  int64_t depth;
  /// Elements that later calls need, or null: fetched meanwhile, so many
  /// elements on with each step of the depth. May reach beyond the end of
  /// memory.
  const T* ahead = nullptr;
  int64_t ahead_step = 0;
};

template <class T>
struct GemmKernels {
  /// Largest block of one tile call, in elements.
  int max_rows;
  int max_cols;
  /// Columns of one wide call.
  int wide_cols;
  static constexpr int kFewRows = 3;
  /// Rows of A up to which dot is faster than packing B's columns.
  int dot_rows;

  /// rows <= max_rows, cols <= max_cols; row p of B starts at b + p * ldb.
  void (*tile)(int rows, int cols, int64_t k, const TileA<T>& a, const T* b,
               int64_t ldb, const TileOutput<T>& out);
  /// The same for products of at most kFewRows rows in all: adds up in several
  /// sums, hence in another order.
  void (*few_tile)(int rows, int cols, int64_t k, const TileA<T>& a, const T* b,
                   int64_t ldb, const TileOutput<T>& out);
  /// tile for exactly max_cols columns of a B whose row p starts at b +
  /// offsets[p].
  void (*offset_tile)(int rows, int64_t k, const TileA<T>& a, const T* b,
                      const int64_t* offsets, const TileOutput<T>& out);
  /// For at most kFewRows rows and a B of long rows: exactly wide_cols columns.
  void (*wide)(int rows, int64_t k, const TileA<T>& a, const T* b, int64_t ldb,
               const TileOutput<T>& out);
  /// For B by columns, each contiguous, ldb apart, and rows of A contiguous:
  /// any m and n.
  void (*dot)(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
              const T* b, int64_t ldb, const TileOutput<T>& out);
  /// to[j * rows + i] = from[i * row_stride + j * col_stride] for i < rows,
  /// j < cols: a block stored column by column.
  void (*pack)(T* to, int64_t rows, int64_t cols, MatrixRef<T> from);
  /// Bias and activation on a block of C; bias points at the block's first.
  void (*finish)(T* c, int64_t ldc, int64_t rows, int64_t cols,
                 const Epilogue<T>& epilogue);
};

/// Chosen at run time. T: float, double, and uint32_t and uint64_t, whose
/// tables have no offset_tile and no wide.
template <class T>
const GemmKernels<T>& gemm_kernels();

/// A matrix that exists only as a rule for packing it, such as the patches
/// that a convolution multiplies. Thread-safe.
template <class T>
class PanelSource {
 public:
  virtual ~PanelSource() = default;
  /// Rows [row, row + rows) of columns [col, col + cols) to rows of `width`
  /// elements. Elements beyond cols are set too, to anything.
  virtual void pack(int64_t row, int64_t rows, int64_t col, int64_t cols,
                    int64_t width, T* to) const = 0;
};

/// Rows of `width` floats of a B whose columns are contiguous: line(j, p,
/// count, to) makes elements [p, p + count) of column j < cols, which are then
/// transposed; what is beyond cols is zeros. Not many at a time, as both sides
/// of a transposition want to be near. In the calling thread's scratch.
template <class F>
void pack_lines(int64_t rows, int64_t cols, int64_t width, float* to,
                const F& line) {
  constexpr int64_t kDepth = 128;
  float* lines = scratch<float>(ScratchUse::kPanelLines, width * kDepth);
  std::fill(lines + cols * kDepth, lines + width * kDepth, 0.0f);
  for (int64_t p = 0; p < rows; p += kDepth) {
    const int64_t count = std::min(kDepth, rows - p);
    for (int64_t j = 0; j < cols; ++j) line(j, p, count, lines + j * kDepth);
    gemm_kernels<float>().pack(to + p * width, width, count,
                               {lines, kDepth, 1});
  }
}

/// B (k x n) in one of the forms that products read; the rest is null.
template <class T>
struct Factor {
  MatrixRef<T> matrix{nullptr, 0, 0};
  const T* packed = nullptr;
  const PanelSource<T>* source = nullptr;
};

/// gemm by these kernels, whatever their lanes hold.
template <class T>
void gemm_by(const GemmKernels<T>& kernels, int64_t m, int64_t n, int64_t k,
             T alpha, MatrixRef<T> a, const Factor<T>& b, T beta, T* c,
             int64_t ldc, const Epilogue<T>& epilogue);

/// gemm with a B that is made while it is packed.
template <class T>
void gemm_from_panels(int64_t m, int64_t n, int64_t k, T alpha, MatrixRef<T> a,
                      const PanelSource<T>& b, T beta, T* c, int64_t ldc,
                      const Epilogue<T>& epilogue) {
  gemm_by(gemm_kernels<T>(), m, n, k, alpha, a, Factor<T>{.source = &b}, beta,
          c, ldc, epilogue);
}

}  // namespace hotaru
