// Products by areas of C, each by blocks of depth and columns.
#include <algorithm>
#include <type_traits>

#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm_problem.h"
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
constexpr int64_t kStreamedDepth = 96, kFewStreamedDepth = 48;
constexpr int64_t kFewStreamedRows = 24;
constexpr int64_t kPanelsAhead = 2;
// Rows of A packed at a time (kRows * kDepth elements in the second level) and
// columns of B (kCols * kDepth elements in the third level).
constexpr int64_t kRows = 280;
constexpr int64_t kCols = 2048;
// Bytes of B that are packed just before few rows read them: the first level.
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
      const int cols = int(std::min(width, area.col_end - col));
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
        tile(int(height), cols, k, at, b, panels.row_stride, to);
        if (epilogue) {
          kernels.finish(to.c, to.ldc, height, cols,
                         shifted(*epilogue, row, col));
        }
      }
    }
  }
}

/// An area of C by blocks of depth and columns, B packed unless it lies well
/// already.
template <class T>
void multiply_blocks(const GemmProblem<T>& p, const Area& all) {
  const GemmKernels<T>& kernels = p.kernels;
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
  // Panels that few rows multiply once are packed just before.
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

}  // namespace

// Each thread packs what it multiplies by: one that waits for the others'
// panels, and reads them from their caches, loses more.
template <class T>
void multiply_areas(const GemmProblem<T>& p) {
  for_areas(p.m, p.n, p.k, p.kernels.max_rows, p.kernels.max_cols,
            [&](const Area& area) { multiply_blocks(p, area); });
}

#define HOTARU_INSTANTIATE(T) \
  template void multiply_areas(const GemmProblem<T>&);
HOTARU_INSTANTIATE(float)
HOTARU_INSTANTIATE(double)
HOTARU_INSTANTIATE(uint32_t)
HOTARU_INSTANTIATE(uint64_t)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru
