// Pooling of blocked pictures (backend/common/conv/blocked.h).
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/core/half.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {

/// Positions begin, begin + step, ... below end of what a window contains along
/// a dimension, all inside of the picture.
struct PoolWindow {
  int64_t begin, end;
};

/// A row of windows. Positions are divided by row_divisor * divisors[i] where
/// means are wanted.
struct PoolRow {
  PoolWindow rows;
  int64_t row_step;
  const PoolWindow* columns;
  int64_t column_step, count;
  float row_divisor;
  const float* divisors;
};

/// SIMD parts, chosen at run time.
struct BlockedPoolKernels {
  /// Function for what is under each of a row's windows; x: a block's plane
  /// with rows of w pixels.
  template <class T>
  using Row = void (*)(const T* x, int64_t w, const PoolRow& row, T* y);
  Row<float> max_row, mean_row;
  Row<BFloat16> max_row_bf16, mean_row_bf16;
  /// Means of a block's pixels, in four sums.
  void (*mean_block)(const float* x, int64_t pixels, float* y);
};

/// A call of "blocked_max_pool" or "blocked_avg_pool" but where its operands
/// lie.
class BlockedPool {
 public:
  static BlockedPool maximum(const KernelCall& call);
  static BlockedPool average(const KernelCall& call);
  /// Both of float32 or bfloat16.
  void run(const Tensor& x, const Tensor& y) const;

 private:
  explicit BlockedPool(const KernelCall& call);
  template <class T>
  void run(const T* x, T* y, BlockedPoolKernels::Row<T> row) const;

  int64_t planes_, h_, w_;
  bool mean_ = false;
  int64_t step_[2] = {1, 1};
  std::vector<PoolWindow> windows_[2];  // of rows and columns
  std::vector<float> divisors_[2];      // of means
};

/// Means of the `pixels` pixels of each channel of each image.
void blocked_mean(const float* x, int64_t images, int64_t channels,
                  int64_t pixels, float* y);

}  // namespace hotaru::cpu
