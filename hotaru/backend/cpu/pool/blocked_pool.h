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
  void (*max_row)(const float* x, int64_t w, PoolWindow rows, int64_t row_step,
                  const PoolWindow* columns, int64_t column_step, int64_t count,
                  float* y);
  /// Means of a block's pixels, in four sums.
  void (*mean_block)(const float* x, int64_t pixels, float* y);
};

/// A call of "blocked_max_pool" but where its operands lie.
class BlockedMaxPool {
 public:
  explicit BlockedMaxPool(const KernelCall& call);
  void run(const float* x, float* y) const;

 private:
  int64_t planes_, h_, w_;
  int64_t step_[2] = {1, 1};
  std::vector<PoolWindow> windows_[2];  // of rows and columns
};

/// Means of the `pixels` pixels of each channel of each image.
void blocked_mean(const float* x, int64_t images, int64_t channels,
                  int64_t pixels, float* y);

}  // namespace hotaru::cpu
