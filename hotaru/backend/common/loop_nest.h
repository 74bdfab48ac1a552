// The loops of an elementwise kernel: operands broadcast to the output's
// shape, dimensions sorted by stride and merged where memory allows, so that
// most calls become one flat loop. Shared by all back ends.
#pragma once

#include <array>
#include <span>

#include "hotaru/core/tensor.h"

namespace hotaru {

/// Geometry of up to four operands over one index space. Strides in bytes.
class LoopNest {
 public:
  static constexpr int kMaxOperands = 4;
  static constexpr int kMaxDims = 32;

  /// The first tensor is the output and gives the shape; the others broadcast
  /// to it. Throws if they have more than kMaxDims dimensions.
  explicit LoopNest(std::span<const Tensor* const> operands);

  int64_t numel() const { return numel_; }
  int dims() const { return dims_; }

  /// Loops over n elements: pointers of the operands and their strides.
  using Inner = void (*)(const void* context, char* const* pointers,
                         const int64_t* strides, int64_t n);
  /// Calls inner over the whole index space, in parallel above `grain`
  /// elements. Within a chunk the calls follow increasing addresses of the
  /// output.
  void run(int64_t grain, Inner inner, const void* context) const;
  /// The same over elements [begin, end) of the space, in this thread.
  void run_range(int64_t begin, int64_t end, Inner inner,
                 const void* context) const;

 private:
  void build(std::span<const Tensor* const> operands);

  int operands_;
  int dims_ = 1;
  int64_t numel_;
  std::array<char*, kMaxOperands> data_;
  // Innermost dimension first.
  std::array<int64_t, kMaxDims> sizes_;
  std::array<std::array<int64_t, kMaxOperands>, kMaxDims> strides_;
};

}  // namespace hotaru
