// Pooling of blocked pictures (backend/common/conv/blocked.h).
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {

/// Positions begin, begin + step, ... below end of what a window contains along
/// a dimension, all inside of the picture.
struct PoolWindow {
  int64_t begin, end;
};

/// SIMD parts, chosen at run time.
struct BlockedPoolKernels {
  /// The greatest under each of `count` windows of a row; x: a block's plane
  /// with rows of w pixels.
  template <class T>
  using MaxRow = void (*)(const T* x, int64_t w, PoolWindow rows,
                          int64_t row_step, const PoolWindow* columns,
                          int64_t column_step, int64_t count, T* y);
  MaxRow<float> max_row;
  MaxRow<BFloat16> max_row_bf16;
  /// Means of a block's pixels, in four sums.
  void (*mean_block)(const float* x, int64_t pixels, float* y);
};

/// A call of "blocked_max_pool" but where its operands lie.
class BlockedMaxPool {
 public:
  explicit BlockedMaxPool(const KernelCall& call);
  /// Both of float32 or bfloat16.
  void run(const Tensor& x, const Tensor& y) const;

 private:
  template <class T>
  void run(const T* x, T* y, BlockedPoolKernels::MaxRow<T> row) const;

  int64_t planes_, h_, w_;
  int64_t step_[2] = {1, 1};
  std::vector<PoolWindow> windows_[2];  // of rows and columns
};

/// Means of the `pixels` pixels of each channel of each image.
void blocked_mean(const float* x, int64_t images, int64_t channels,
                  int64_t pixels, float* y);

}  // namespace hotaru::cpu
