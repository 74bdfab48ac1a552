// The loops of an elementwise kernel: operands broadcast to the output's
// shape, dimensions sorted by stride and merged where memory allows, so that
// most calls become one flat loop. Shared by all back ends.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "hotaru/core/shape.h"

namespace hotaru {

class Tensor;

/// Geometry of up to four operands over one index space. Strides in bytes.
class LoopNest {
 public:
  static constexpr int kMaxOperands = 4;
  static constexpr int kMaxDims = 32;
  /// One for each operand.
  using Pointers = std::array<char*, kMaxOperands>;
  using Strides = std::array<int64_t, kMaxOperands>;

  /// The first tensor is the output and gives the shape; the others broadcast
  /// to it. Throws if they have more than kMaxDims dimensions.
  explicit LoopNest(std::span<const Tensor* const> operands);
  /// A given order of at most kMaxDims dimensions, the innermost first, which
  /// are merged but not moved: elements have the same numbers in all nests of
  /// the same sizes.
  LoopNest(int operands, const Pointers& data, IntSpan sizes,
           std::span<const Strides> strides);

  int64_t numel() const { return numel_; }
  int dims() const { return dims_; }
  /// Elements of the innermost dimension.
  int64_t inner_size() const { return sizes_[0]; }
  const Pointers& data() const { return data_; }
  const Strides& inner_strides() const { return strides_[0]; }

  /// The space of the innermost dimension's lines, of which there must be more
  /// dimensions.
  LoopNest lines() const;

  /// Loops over n elements: pointers of the operands and their strides.
  using Inner = void (*)(const void* context, char* const* pointers,
                         const int64_t* strides, int64_t n);
  /// Calls inner over the whole index space, in parallel above `grain`
  /// elements. Within a chunk the calls follow increasing addresses of the
  /// output.
  void run(int64_t grain, Inner inner, const void* context) const;
  /// The same over elements [begin, end) of the space, in this thread.
  void run_range(int64_t begin, int64_t end, Inner inner,
                 const void* context) const {
    run_range(data_, begin, end, inner, context);
  }
  /// The same with operands at other addresses.
  void run_range(const Pointers& data, int64_t begin, int64_t end, Inner inner,
                 const void* context) const;

 private:
  void build(std::span<const Tensor* const> operands);
  /// Adds a dimension around those that there are.
  void add_dim(int64_t size, const Strides& strides);
  /// Puts the next dimension innermost where that one has few elements.
  void prefer_long_lines();

  int operands_;
  int dims_ = 1;
  int64_t numel_;
  Pointers data_;
  // Innermost dimension first.
  std::array<int64_t, kMaxDims> sizes_;
  std::array<Strides, kMaxDims> strides_;
};

/// Sorts dimensions by the operands' strides, the smallest first; the first
/// operand that has a say in it decides. strides: [dims][operands]. order:
/// starts as the order to keep where nobody cares.
void sort_dims(int64_t dims, int64_t operands, const int64_t* strides,
               int* order);

}  // namespace hotaru
