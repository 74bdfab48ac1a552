// Products of few rows.
#include <algorithm>

#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm_problem.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

// Depth of blocks of a B that lies far: whole rows of it come from memory as
// one stream, which takes less time than C does.
constexpr int64_t kWideDepth = 32;
// A B of more bytes lies far even if nothing else is read meanwhile.
constexpr int64_t kNearBytes = 1 << 20;

}  // namespace

template <class T>
void multiply_wide(const GemmProblem<T>& p) {
  const GemmKernels<T>& kernels = p.kernels;
  const bool far = p.k * p.n * int64_t{sizeof(T)} > kNearBytes;
  const int64_t depth = far ? kWideDepth : p.k;
  const int rows = int(p.m);
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
          kernels.few_tile(rows, int(cols), k, a, b + col, p.b.row_stride, to);
        }
        if (begin + k == p.k && !p.epilogue.empty())
          kernels.finish(to.c, p.ldc, rows, cols, shifted(p.epilogue, 0, col));
      }
    }
  });
}

template <class T>
void multiply_panels(const GemmProblem<T>& p) {
  const GemmKernels<T>& kernels = p.kernels;
  const int64_t width = kernels.max_cols;
  const Tail<T> tail(p);
  const TileOutput<T> out = tail.output(p, true, true);
  const TileA<T> a{p.a.data, p.a.row_stride, p.a.col_stride};
  const int rows = int(p.m);
  for_areas(p.m, p.n, p.k, p.m, width, [&](const Area& area) {
    for (int64_t col = area.col_begin; col < area.col_end; col += width) {
      const int cols = int(std::min(width, area.col_end - col));
      const TileOutput<T> to = out.at(0, col);
      kernels.few_tile(rows, cols, p.k, a, p.packed + col * p.k, width, to);
      if (!tail.rest.empty())
        kernels.finish(to.c, p.ldc, rows, cols, shifted(tail.rest, 0, col));
    }
  });
}

template <class T>
void multiply_dot(const GemmProblem<T>& p) {
  const GemmKernels<T>& kernels = p.kernels;
  for_areas(p.m, p.n, p.k, p.m, 8, [&](const Area& area) {
    const int64_t cols = area.col_end - area.col_begin;
    const TileOutput<T> to{p.c + area.col_begin, p.ldc, p.alpha, p.beta};
    kernels.dot(p.m, cols, p.k, p.a.data, p.a.row_stride,
                p.b.data + area.col_begin * p.b.col_stride, p.b.col_stride, to);
    if (!p.epilogue.empty())
      kernels.finish(to.c, p.ldc, p.m, cols,
                     shifted(p.epilogue, 0, area.col_begin));
  });
}

#define HOTARU_INSTANTIATE(T) \
  template void multiply_panels(const GemmProblem<T>&); \
  template void multiply_dot(const GemmProblem<T>&); \
  template void multiply_wide(const GemmProblem<T>&);
HOTARU_INSTANTIATE(float)
HOTARU_INSTANTIATE(double)
HOTARU_INSTANTIATE(uint32_t)
HOTARU_INSTANTIATE(uint64_t)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru
