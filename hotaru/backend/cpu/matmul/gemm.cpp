#include "hotaru/backend/cpu/matmul/gemm.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm_complex.h"
#include "hotaru/backend/cpu/matmul/gemm_generic.h"
#include "hotaru/backend/cpu/matmul/gemm_integer.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/matmul/gemm_reduced.h"
#include "hotaru/backend/cpu/matmul/gemm_turned.h"
#include "hotaru/backend/cpu/matmul/matrix_source.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

// Depth of a block, about. C is loaded and stored once per block, which costs
// more than a panel of B that comes from the second-level cache, in order.
constexpr int64_t kDepth = 512;
// Depths of blocks of a B that is read in place because it lies far, up to how
// many rows, and how many panels to the right it is fetched ahead: whole rows
// of it come from memory as one stream, which takes less time than C does.
constexpr int64_t kStreamedDepth = 96, kFewStreamedDepth = 48, kWideDepth = 32;
constexpr int64_t kFewStreamedRows = 24;
constexpr int64_t kPanelsAhead = 2;
// Rows of A packed at a time (kRows * kDepth elements in the second level) and
// columns of B (kCols * kDepth elements in the third level).
constexpr int64_t kRows = 280;
constexpr int64_t kCols = 2048;
// Of few rows B is packed just before it is read: the first level.
constexpr int64_t kPackedBytes = 1 << 15;
// A B of more bytes lies far even if nothing else is read meanwhile.
constexpr int64_t kNearBytes = 1 << 20;
// Panels of more bytes than these in all may: the next one is fetched while
// tiles of one are multiplied.
constexpr int64_t kFetchBytes = 1 << 17;
// Elements of A that few rows pack once for all columns.
constexpr int64_t kKeptElements = 128 * 1024;
// Columns of C, in panels, from which A is packed for speed alone: its tiles
// are then read as one stream.
constexpr int64_t kPackPanels = 16;

template <class T>
struct Problem {
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

template <class T>
Epilogue<T> shifted(Epilogue<T> e, int64_t row, int64_t col) {
  if (e.bias != nullptr) e.bias += e.bias_per_row ? row : col;
  if (e.scale) e.scale += row, e.shift += row;
  if (e.residual) e.residual += row * e.residual_stride + col;
  return e;
}

/// B of one block of depth: panel j starts at data + j * panel_stride and its
/// rows are row_stride apart.
template <class T>
struct Panels {
  const T* data;
  int64_t row_stride;
  int64_t panel_stride;
  bool far;  // tiles of one panel fetch the next one, which would wait for it
  bool streamed = false;  // far, in its own rows
};

/// Where A is packed, if it is; of a single block of rows it may be there.
template <class T>
struct PackedA {
  T* data;
  bool done;
};

/// One area of C from a depth block of A and B.
template <class T>
void multiply_area(const GemmKernels<T>& kernels, const Area& area, int64_t k,
                   MatrixRef<T> a, const PackedA<T>& packed, bool few_rows,
                   const Panels<T>& panels, const TileOutput<T>& out,
                   const Epilogue<T>* epilogue) {
  const auto tile = few_rows ? kernels.few_tile : kernels.tile;
  const int64_t width = kernels.max_cols;
  const int64_t rows = area.row_end - area.row_begin;
  const int64_t blocks = detail::divide_up(rows, kRows);
  T* const buffer = packed.data;
  const bool fetch =
      panels.far && !panels.streamed && packed.data && rows > kernels.max_rows;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t begin = area.row_begin + rows * block / blocks;
    const int64_t end = area.row_begin + rows * (block + 1) / blocks;
    // Tiles of nearly equal height: a low rest would run at low speed.
    const int64_t tiles = detail::divide_up(end - begin, kernels.max_rows);
    const auto tile_begin = [&](int64_t t) {
      return begin + (end - begin) * t / tiles;
    };
    if (buffer && !packed.done) {
      for (int64_t t = 0; t < tiles; ++t) {
        const int64_t row = tile_begin(t);
        kernels.pack(buffer + (row - begin) * k, tile_begin(t + 1) - row, k,
                     {a.data + row * a.row_stride, a.row_stride, a.col_stride});
      }
    }
    for (int64_t col = area.col_begin; col < area.col_end; col += width) {
      const int cols = static_cast<int>(std::min(width, area.col_end - col));
      const T* b = panels.data + col / width * panels.panel_stride;
      for (int64_t t = 0; t < tiles; ++t) {
        const int64_t row = tile_begin(t);
        const int64_t height = tile_begin(t + 1) - row;
        TileA<T> at = buffer ? TileA<T>{buffer + (row - begin) * k, 1, height}
                             : TileA<T>{a.data + row * a.row_stride,
                                        a.row_stride, a.col_stride};
        if (panels.streamed && t == 0) {
          at.ahead = b + kPanelsAhead * width;
          at.ahead_step = panels.row_stride;
        } else if (fetch) {
          at.ahead = b + panels.panel_stride + k * width * t / tiles;
          at.ahead_step = detail::divide_up(width, tiles);
        }
        const TileOutput<T> to = out.at(row, col);
        tile(static_cast<int>(height), cols, k, at, b, panels.row_stride, to);
        if (epilogue) {
          kernels.finish(to.c, to.ldc, height, cols,
                         shifted(*epilogue, row, col));
        }
      }
    }
  }
}

/// What of an epilogue is done where a tile is stored, and what is left for a
/// pass over it.
template <class T>
struct Tail {
  explicit Tail(const Problem<T>& p) : rest(p.epilogue) {
    if (p.beta == T(0) && !rest.bias_per_row)
      first = std::exchange(rest.bias, nullptr);
    if (rest.bias || rest.scale) return;
    last = std::exchange(rest.residual, nullptr);
    relu = rest.activation == Activation::kRelu;
    if (relu) rest.activation = Activation::kNone;
  }
  /// How a block of depth is added.
  TileOutput<T> output(const Problem<T>& p, bool at_first, bool at_last) const {
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

/// Few rows times a B with contiguous rows: long stretches of B's rows.
template <class T>
void multiply_wide(const GemmKernels<T>& kernels, const Problem<T>& p) {
  const bool far = p.k * p.n * int64_t{sizeof(T)} > kNearBytes;
  const int64_t depth = far ? kWideDepth : p.k;
  const int rows = static_cast<int>(p.m);
  for_areas(p.m, p.n, p.k, p.m, kernels.wide_cols, [&](const Area& area) {
    for (int64_t begin = 0; begin < p.k; begin += depth) {
      const int64_t k = std::min(depth, p.k - begin);
      const TileA<T> a{p.a.data + begin * p.a.col_stride, p.a.row_stride,
                       p.a.col_stride};
      const T* b = p.b.data + begin * p.b.row_stride;
      int64_t cols = 0;
      for (int64_t col = area.col_begin; col < area.col_end; col += cols) {
        const TileOutput<T> to{p.c + col, p.ldc, p.alpha,
                               begin == 0 ? p.beta : T(1)};
        cols = area.col_end - col;
        if (cols >= kernels.wide_cols) {
          cols = kernels.wide_cols;
          kernels.wide(rows, k, a, b + col, p.b.row_stride, to);
        } else {
          cols = std::min<int64_t>(cols, kernels.max_cols);
          kernels.few_tile(rows, static_cast<int>(cols), k, a, b + col,
                           p.b.row_stride, to);
        }
        if (begin + k == p.k && !p.epilogue.empty()) {
          kernels.finish(to.c, p.ldc, rows, cols, shifted(p.epilogue, 0, col));
        }
      }
    }
  });
}

/// Few rows times a packed B, over its whole depth.
template <class T>
void multiply_panels(const GemmKernels<T>& kernels, const Problem<T>& p) {
  const int64_t width = kernels.max_cols;
  const Tail<T> tail(p);
  const TileOutput<T> out = tail.output(p, true, true);
  const TileA<T> a{p.a.data, p.a.row_stride, p.a.col_stride};
  const int rows = static_cast<int>(p.m);
  for_areas(p.m, p.n, p.k, p.m, width, [&](const Area& area) {
    for (int64_t col = area.col_begin; col < area.col_end; col += width) {
      const int cols = static_cast<int>(std::min(width, area.col_end - col));
      const TileOutput<T> to = out.at(0, col);
      kernels.few_tile(rows, cols, p.k, a, p.packed + col * p.k, width, to);
      if (!tail.rest.empty())
        kernels.finish(to.c, p.ldc, rows, cols, shifted(tail.rest, 0, col));
    }
  });
}

/// Few rows of contiguous A times a B with contiguous columns.
template <class T>
void multiply_dot(const GemmKernels<T>& kernels, const Problem<T>& p) {
  for_areas(p.m, p.n, p.k, p.m, 8, [&](const Area& area) {
    const int64_t cols = area.col_end - area.col_begin;
    const TileOutput<T> to{p.c + area.col_begin, p.ldc, p.alpha, p.beta};
    kernels.dot(p.m, cols, p.k, p.a.data, p.a.row_stride,
                p.b.data + area.col_begin * p.b.col_stride, p.b.col_stride, to);
    if (!p.epilogue.empty()) {
      kernels.finish(to.c, p.ldc, p.m, cols,
                     shifted(p.epilogue, 0, area.col_begin));
    }
  });
}

/// Packs rows [row, row + rows) of columns [col, col + cols) into panels.
template <class T>
void pack_panels(const GemmKernels<T>& kernels, const PanelSource<T>& source,
                 int64_t row, int64_t rows, int64_t col, int64_t cols, T* to) {
  const int64_t width = kernels.max_cols;
  for (int64_t done = 0; done < cols; done += width)
    source.pack(row, rows, col + done, std::min(width, cols - done), width,
                to + done * rows);
}

/// An area of C by blocks of depth and columns, B packed unless it lies well
/// already.
template <class T>
void multiply_blocks(const GemmKernels<T>& kernels, const Problem<T>& p,
                     const Area& all) {
  const int64_t width = kernels.max_cols;
  const int64_t rows = all.row_end - all.row_begin;
  // Rows or columns that far apart meet in one set of the first-level cache.
  const auto collide = [](int64_t stride) {
    return stride * int64_t{sizeof(T)} % 4096 == 0;
  };
  const int64_t b_bytes = p.k * p.n * int64_t{sizeof(T)};
  const bool contiguous =
      p.packed == nullptr && p.source == nullptr && p.b.col_stride == 1;
  const bool streamed = contiguous && b_bytes > kNearBytes &&
                        rows <= (collide(p.b.row_stride) ? 64 : kRows);
  // In place, B's rows must be contiguous, and pay only if they are read
  // seldom, once if they collide, or stay in the first-level cache.
  const int64_t seldom =
      collide(p.b.row_stride) ? int64_t{kernels.max_rows} : kRows;
  const bool pack_b = p.packed == nullptr && !streamed &&
                      (!contiguous || (rows > seldom && b_bytes > 32768));
  // A is fine in place where it is read seldom or B has no panels, unless its
  // rows collide or each needs pages of its own.
  const int64_t stride = std::max(p.a.row_stride, p.a.col_stride);
  const bool pack_a =
      p.n >= 4 * width && rows >= 2 &&
      (streamed || ((p.packed || pack_b) && p.n >= kPackPanels * width) ||
       collide(stride) || stride * int64_t{sizeof(T)} > 16384);
  const int64_t block_depth = !streamed                 ? kDepth
                              : rows > kFewStreamedRows ? kStreamedDepth
                                                        : kFewStreamedDepth;
  const int64_t depth_blocks =
      std::max<int64_t>(1, (p.k + block_depth / 2) / block_depth);
  const Tail<T> tail(p);
  // What few rows multiply once is packed just before.
  const int64_t depth_bytes = p.k / depth_blocks * int64_t{sizeof(T)};
  const bool keep_a =
      pack_a && pack_b && rows <= kRows && rows * p.k <= kKeptElements;
  T* const kept =
      pack_a ? scratch<T>(ScratchUse::kGemmA,
                          keep_a ? rows * p.k
                                 : kRows * detail::divide_up(p.k, depth_blocks))
             : nullptr;
  const bool far =
      (all.col_end - all.col_begin) * p.k * int64_t{sizeof(T)} > kFetchBytes;
  const int64_t together =
      pack_b && (!pack_a || keep_a) && rows <= kRows
          ? std::clamp(kPackedBytes / depth_bytes / width * width, width, kCols)
          : kCols;
  for (int64_t left = all.col_begin; left < all.col_end; left += together) {
    const int64_t cols = std::min(together, all.col_end - left);
    for (int64_t block = 0; block < depth_blocks; ++block) {
      const int64_t begin = p.k * block / depth_blocks;
      const int64_t depth = p.k * (block + 1) / depth_blocks - begin;
      Panels<T> panels;
      if (p.packed != nullptr) {
        panels = {p.packed + left * p.k + begin * width, width, width * p.k,
                  far};
      } else if (pack_b) {
        T* to = scratch<T>(ScratchUse::kGemmB,
                           detail::divide_up(cols, width) * width * depth);
        const MatrixSource<T> matrix(kernels, p.b);
        pack_panels(kernels, p.source ? *p.source : matrix, begin, depth, left,
                    cols, to);
        panels = {to, width, width * depth, far};
      } else {
        panels = {p.b.data + begin * p.b.row_stride + left, p.b.row_stride,
                  width, far, streamed};
      }
      const bool last = block + 1 == depth_blocks;
      const TileOutput<T> out = tail.output(p, block == 0, last).at(0, left);
      const Epilogue<T> epilogue = shifted(tail.rest, 0, left);
      const MatrixRef<T> a{p.a.data + begin * p.a.col_stride, p.a.row_stride,
                           p.a.col_stride};
      multiply_area(
          kernels, {all.row_begin, all.row_end, 0, cols}, depth, a,
          {keep_a ? kept + rows * begin : kept, keep_a && left > all.col_begin},
          p.m <= GemmKernels<T>::kFewRows, panels, out,
          last && !epilogue.empty() ? &epilogue : nullptr);
    }
  }
}

/// Each thread packs what it multiplies by: one that waits for the others'
/// panels, and reads them from their caches, loses more.
template <class T>
void multiply_areas(const GemmKernels<T>& kernels, const Problem<T>& p) {
  for_areas(p.m, p.n, p.k, kernels.max_rows, kernels.max_cols,
            [&](const Area& area) { multiply_blocks(kernels, p, area); });
}

template <class T>
void multiply(const Problem<T>& p) {
  const GemmKernels<T>& kernels = p.kernels;
  if (p.packed && p.m <= GemmKernels<T>::kFewRows)
    return multiply_panels(kernels, p);
  if (p.packed || p.source) return multiply_areas(kernels, p);
  if (p.a.col_stride == 1 && p.b.row_stride == 1 && p.m <= kernels.dot_rows) {
    return multiply_dot(kernels, p);
  }
  if (kernels.wide && p.b.col_stride == 1 && p.m <= GemmKernels<T>::kFewRows) {
    return multiply_wide(kernels, p);
  }
  multiply_areas(kernels, p);
}

/// C = act(beta C + bias), what is left of an empty product.
template <class T>
void scale_only(const Problem<T>& p) {
  for (int64_t i = 0; i < p.m; ++i) {
    T* row = p.c + i * p.ldc;
    for (int64_t j = 0; j < p.n; ++j) {
      row[j] = p.beta == T(0) ? T(0) : p.beta * row[j];
    }
  }
  p.kernels.finish(p.c, p.ldc, p.m, p.n, p.epilogue);
}

template <class T>
void gemm_simd(Problem<T> p) {
  if (p.m <= 0 || p.n <= 0) return;
  if (p.k <= 0 || p.alpha == T(0)) return scale_only(p);
  if (p.n == 1 && p.m > 1 && !p.packed && !p.source && p.ldc == 1) {
    // A column of C is a row of its transpose.
    std::swap(p.m, p.n);
    std::swap(p.a, p.b);
    p.a = p.a.transposed();
    p.b = p.b.transposed();
    p.ldc = p.n;
    p.epilogue.bias_per_row = !p.epilogue.bias_per_row;
  }
  // A stride over one element means nothing; the natural one helps the choice.
  if (p.k == 1) p.a.col_stride = p.b.row_stride = 1;
  if (p.n == 1) p.b.col_stride = 1;
  multiply(p);
}

}  // namespace

template <class T>
void gemm_by(const GemmKernels<T>& kernels, int64_t m, int64_t n, int64_t k,
             T alpha, MatrixRef<T> a, const Factor<T>& b, T beta, T* c,
             int64_t ldc, const Epilogue<T>& epilogue) {
  gemm_simd(Problem<T>{kernels, m, n, k, alpha, beta, a, b.matrix, b.packed,
                       b.source, c, ldc, epilogue});
}

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, OpMath<T> alpha, MatrixRef<T> a,
          MatrixRef<T> b, OpMath<T> beta, T* c, int64_t ldc,
          const Epilogue<T>& epilogue) {
  if constexpr (std::is_same_v<T, float>)
    if (is_worth_turning(m, n, k, a, b, beta, epilogue))
      return gemm_turned(m, n, k, alpha, a, b, c, ldc, epilogue);
  if constexpr (std::is_floating_point_v<T>) {
    gemm_by(gemm_kernels<T>(), m, n, k, alpha, a, Factor<T>{.matrix = b}, beta,
            c, ldc, epilogue);
  } else if constexpr (kIsReduced<T>) {
    gemm_reduced(m, n, k, alpha, a, b, beta, c, ldc, epilogue);
  } else if constexpr (std::is_integral_v<T>) {
    gemm_integer(m, n, k, alpha, a, b, beta, c, ldc, epilogue);
  } else {
    if (is_worth_panels(m, n, k))
      return gemm_complex(m, n, k, alpha, a, b, beta, c, ldc, epilogue);
    gemm_generic(m, n, k, alpha, a, b, beta, c, ldc, epilogue);
  }
}

template <class T>
void gemm(int64_t m, OpMath<T> alpha, MatrixRef<T> a, PackedRef<T> b,
          OpMath<T> beta, T* c, int64_t ldc, const Epilogue<T>& epilogue) {
  gemm_by(gemm_kernels<T>(), m, b.n, b.k, alpha, a, Factor<T>{.packed = b.data},
          beta, c, ldc, epilogue);
}

template <class T>
void gemm_batched(int64_t batch, int64_t m, int64_t n, int64_t k,
                  OpMath<T> alpha, MatrixRef<T> a, int64_t a_stride,
                  MatrixRef<T> b, int64_t b_stride, OpMath<T> beta, T* c,
                  int64_t ldc, int64_t c_stride, const Epilogue<T>& epilogue) {
  const auto one = [&](int64_t i) {
    MatrixRef<T> ai = a, bi = b;
    // Without any inner size they may have no memory.
    if (k > 0) {
      ai.data += i * a_stride;
      bi.data += i * b_stride;
    }
    gemm(m, n, k, alpha, ai, bi, beta, c + i * c_stride, ldc, epilogue);
  };
  for_batch(batch, m * n * k, one);
}

template <>
void gemm(int64_t m, float alpha, MatrixRef<BFloat16> a, PackedRef<BFloat16> b,
          float beta, BFloat16* c, int64_t ldc,
          const Epilogue<BFloat16>& epilogue) {
  through_sums(
      m, b.n, beta, c, ldc, epilogue,
      [&](float* sums, float add, const Epilogue<float>& finish) {
        gemm_bf16(m, alpha, a, b, add, sums, b.n, finish);
      },
      [&](const Epilogue<float>& finish) {
        return gemm_rounded(m, alpha, a, b, c, ldc, finish);
      });
}

template <>
void gemm(int64_t m, float alpha, MatrixRef<Half> a, PackedRef<Half> b,
          float beta, Half* c, int64_t ldc, const Epilogue<Half>& epilogue) {
  through_sums(m, b.n, beta, c, ldc, epilogue,
               [&](float* sums, float add, const Epilogue<float>& finish) {
                 gemm_widened(m, alpha, a, b, add, sums, b.n, finish);
               });
}

template <>
PackedRef<BFloat16> pack_matrix(int64_t k, int64_t n, MatrixRef<BFloat16> b,
                                BFloat16* to) {
  return pack_bf16(k, n, b, to);
}

template <>
PackedRef<Half> pack_matrix(int64_t k, int64_t n, MatrixRef<Half> b, Half* to) {
  return pack_half(k, n, b, to);
}

template <class T>
PackedRef<T> pack_matrix(int64_t k, int64_t n, MatrixRef<T> b, T* to) {
  const GemmKernels<T>& kernels = gemm_kernels<T>();
  if (k > 0 && n > 0)
    pack_panels<T>(kernels, MatrixSource<T>(kernels, b), 0, k, 0, n, to);
  return {to, k, n};
}

template <class T>
PackedMatrix<T>::PackedMatrix(int64_t k, int64_t n, MatrixRef<T> b)
    : k_(k), n_(n) {
  const int64_t size = packed_size(k, n, sizeof(T));
  data_.reset(aligned_new<T>(std::max<int64_t>(size, 1)));
  pack_matrix(k, n, b, data_.get());
}

template <class T>
void PackedMatrix<T>::Free::operator()(T* p) const {
  aligned_delete(p);
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;
template PackedRef<float> pack_matrix(int64_t, int64_t, MatrixRef<float>,
                                      float*);
template PackedRef<double> pack_matrix(int64_t, int64_t, MatrixRef<double>,
                                       double*);
template void gemm(int64_t, float, MatrixRef<float>, PackedRef<float>, float,
                   float*, int64_t, const Epilogue<float>&);
template void gemm(int64_t, double, MatrixRef<double>, PackedRef<double>,
                   double, double*, int64_t, const Epilogue<double>&);

template void gemm_by(const GemmKernels<float>&, int64_t, int64_t, int64_t,
                      float, MatrixRef<float>, const Factor<float>&, float,
                      float*, int64_t, const Epilogue<float>&);
template void gemm_by(const GemmKernels<double>&, int64_t, int64_t, int64_t,
                      double, MatrixRef<double>, const Factor<double>&, double,
                      double*, int64_t, const Epilogue<double>&);

#define HOTARU_INSTANTIATE(...) \
  template void gemm(int64_t, int64_t, int64_t, OpMath<__VA_ARGS__>, \
                     MatrixRef<__VA_ARGS__>, MatrixRef<__VA_ARGS__>, \
                     OpMath<__VA_ARGS__>, __VA_ARGS__*, int64_t, \
                     const Epilogue<__VA_ARGS__>&); \
  template void gemm_batched(int64_t, int64_t, int64_t, int64_t, \
                             OpMath<__VA_ARGS__>, MatrixRef<__VA_ARGS__>, \
                             int64_t, MatrixRef<__VA_ARGS__>, int64_t, \
                             OpMath<__VA_ARGS__>, __VA_ARGS__*, int64_t, \
                             int64_t, const Epilogue<__VA_ARGS__>&);
HOTARU_INSTANTIATE(float)
HOTARU_INSTANTIATE(double)
HOTARU_INSTANTIATE(Half)
HOTARU_INSTANTIATE(BFloat16)
HOTARU_INSTANTIATE(uint8_t)
HOTARU_INSTANTIATE(int8_t)
HOTARU_INSTANTIATE(int16_t)
HOTARU_INSTANTIATE(int32_t)
HOTARU_INSTANTIATE(int64_t)
HOTARU_INSTANTIATE(std::complex<float>)
HOTARU_INSTANTIATE(std::complex<double>)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru
