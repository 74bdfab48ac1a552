// From tensors to the index spaces that kernels are told.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "hotaru/backend/common/loop_nest.h"
#include "hotaru/backend/cuda/params/index.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cuda {

/// Elements that one launch counts at most, in 32 bits: what is larger is cut.
int64_t most_elements();
/// For tests of what is cut: 1 <= n < kMostElements.
void set_most_elements(int64_t n);

/// Operands over one index space: addresses, and for each dimension, innermost
/// first, its size and the operands' strides in bytes.
template <int kOperands>
struct Geometry {
  using Strides = std::array<int64_t, kOperands>;

  std::array<char*, kOperands> address{};
  int dims = 0;
  std::array<int64_t, LoopNest::kMaxDims> sizes;
  std::array<Strides, LoopNest::kMaxDims> strides;

  int64_t numel() const {
    int64_t n = 1;
    for (int d = 0; d < dims; ++d) n *= sizes[size_t(d)];
    return n;
  }

  /// Null tensors are operands without memory. The first one gives the shape,
  /// to which the others broadcast. Sizes of 1 are left out, dimensions sorted
  /// by the operands' strides (the first operand's count first) and merged.
  static Geometry of(const std::array<const Tensor*, kOperands>& tensors,
                     IntSpan shape) {
    std::array<char*, kOperands> address{};
    for (size_t k = 0; k < kOperands; ++k)
      if (tensors[k]) address[k] = static_cast<char*>(tensors[k]->address());
    const Steps steps = steps_of(tensors, checked_dims(shape));
    return over(address, shape, steps);
  }

  using Steps = std::array<Strides, LoopNest::kMaxDims>;
  /// Strides in bytes along the last `dims` dimensions; 0 where an operand
  /// broadcasts, or is null.
  static Steps steps_of(const std::array<const Tensor*, kOperands>& tensors,
                        size_t dims) {
    Steps steps{};
    for (size_t k = 0; k < kOperands; ++k) {
      const Tensor* t = tensors[k];
      if (!t) continue;
      const auto item = int64_t(itemsize(t->dtype()));
      const size_t lacking = dims - size_t(t->dim());
      for (size_t d = 0; d < size_t(t->dim()); ++d)
        if (t->sizes()[d] != 1) steps[d + lacking][k] = t->strides()[d] * item;
    }
    return steps;
  }

  /// The same of strides in bytes, for each dimension of the shape. Dimensions
  /// may have to stay in row-major order.
  static Geometry over(const std::array<char*, kOperands>& address,
                       IntSpan shape, const Steps& steps, bool sorted = true) {
    Geometry g;
    g.address = address;
    const auto dims = int64_t(checked_dims(shape));
    std::array<int, LoopNest::kMaxDims> order{};
    for (int64_t d = 0; d < dims; ++d) order[size_t(d)] = int(dims - 1 - d);
    if (sorted) sort_dims(dims, kOperands, steps[0].data(), order.data());
    for (int64_t i = 0; i < dims; ++i) {
      const auto d = size_t(order[size_t(i)]);
      g.add(shape[d], steps[d]);
    }
    return g;
  }

  static size_t checked_dims(IntSpan shape) {
    HOTARU_CHECK(shape.size() <= LoopNest::kMaxDims,
                 "too many dimensions: ", shape.size(), ", at most ",
                 LoopNest::kMaxDims, " are supported");
    return shape.size();
  }

  void add(int64_t size, const Strides& step) {
    if (size == 1) return;
    if (dims > 0) {
      const auto below = size_t(dims - 1);
      bool continues = true;
      for (size_t k = 0; k < kOperands; ++k)
        continues &= step[k] == strides[below][k] * sizes[below];
      if (continues) {
        sizes[below] *= size;
        return;
      }
    }
    sizes[size_t(dims)] = size;
    strides[size_t(dims++)] = step;
  }

  /// True if operand k has elements of `item` bytes side by side.
  bool dense(size_t k, size_t item) const {
    return dims == 0 || (dims == 1 && strides[0][k] == int64_t(item));
  }

  Index<kOperands> index() const {
    Index<kOperands> out;
    for (int d = 0; d < dims; ++d) {
      int64_t step[kOperands];
      std::copy_n(strides[size_t(d)].begin(), kOperands, step);
      HOTARU_CHECK(out.add(sizes[size_t(d)], step), "more than ",
                   Index<kOperands>::kMaxDims,
                   " dimensions that cannot be merged");
    }
    return out;
  }

  /// Calls f with this or with parts of at most `most` elements.
  template <class F>
  void for_parts(const F& f, int64_t most = most_elements()) const {
    if (numel() <= most) return f(*this);
    const auto largest = std::max_element(sizes.begin(), sizes.begin() + dims);
    const auto [low, high] = halves(size_t(largest - sizes.begin()));
    low.for_parts(f, most);
    high.for_parts(f, most);
  }

  /// Calls f with such parts that follow one another in the order of
  /// dimensions, and with the number of elements before each.
  template <class F>
  void for_stretches(const F& f, int64_t before = 0,
                     int64_t most = most_elements()) const {
    if (numel() <= most) return f(*this, before);
    auto outermost = size_t(dims - 1);
    while (sizes[outermost] == 1) --outermost;
    const auto [low, high] = halves(outermost);
    low.for_stretches(f, before, most);
    high.for_stretches(f, before + low.numel(), most);
  }

 private:
  std::pair<Geometry, Geometry> halves(size_t dim) const {
    Geometry low = *this, high = *this;
    low.sizes[dim] = sizes[dim] / 2;
    high.sizes[dim] -= low.sizes[dim];
    for (size_t k = 0; k < kOperands; ++k)
      if (address[k]) high.address[k] += low.sizes[dim] * strides[dim][k];
    return {low, high};
  }
};

constexpr unsigned blocks_for(int64_t n, int64_t each) {
  return unsigned(ceil_divide(n, each));
}

}  // namespace hotaru::cuda
