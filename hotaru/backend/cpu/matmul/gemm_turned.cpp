#include "hotaru/backend/cpu/matmul/gemm_turned.h"

#include <algorithm>

#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

using detail::divide_up;

// Elements of C that are computed before they are turned, about: they stay in
// the second-level cache.
constexpr int64_t kElements = int64_t{1} << 18;
constexpr int64_t kLeastChunk = 256;
// Columns that are turned at once: a cache line.
constexpr int64_t kLine = 16;

/// Writes rows of sums as columns of C.
void turn(const float* sums, int64_t rows, int64_t m, float* c, int64_t ldc) {
  alignas(64) float lines[kMostTurnedRows * kLine];
  for (int64_t r = 0; r < rows; r += kLine) {
    const int64_t count = std::min(kLine, rows - r);
    gemm_kernels<float>().pack(lines, count, m, {sums + r * m, m, 1});
    for (int64_t i = 0; i < m; ++i)
      std::copy_n(lines + i * count, count, c + i * ldc + r);
  }
}

}  // namespace

void gemm_turned(int64_t m, int64_t n, int64_t k, float alpha,
                 MatrixRef<float> a, MatrixRef<float> b, float* c, int64_t ldc,
                 const Epilogue<float>& epilogue) {
  float* const room =
      scratch<float>(ScratchUse::kTurnedA, packed_size(k, m, sizeof(float)));
  const PackedRef<float> packed =
      pack_matrix<float>(k, m, a.transposed(), room);
  const int64_t of_thread = divide_up(n, int64_t{get_num_threads()});
  const int64_t chunk =
      std::max(kLeastChunk,
               std::min(divide_up(of_thread, kLine) * kLine, kElements / m));
  parallel_for(0, divide_up(n, chunk), 1, [&](int64_t at, int64_t end) {
    for (; at < end; ++at) {
      const int64_t first = at * chunk, rows = std::min(chunk, n - first);
      float* const sums = scratch<float>(ScratchUse::kTurnedSums, chunk * m);
      Epilogue<float> last = epilogue;
      last.bias_per_row = !epilogue.bias_per_row;
      if (last.bias && last.bias_per_row) last.bias += first;
      gemm<float>(rows, alpha, {b.data + first * b.col_stride, b.col_stride, 1},
                  packed, 0.0f, sums, m, last);
      turn(sums, rows, m, c + first, ldc);
    }
  });
}

}  // namespace hotaru
