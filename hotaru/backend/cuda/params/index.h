// Where elements lie, told to a kernel by value. Plain data, read alike by the
// host's compiler and the device's.
#pragma once

#include <bit>
#include <cstdint>

namespace hotaru::cuda {

/// Threads of every block of these families, unless a family says otherwise.
inline constexpr uint32_t kBlock = 256;
/// Kernels count elements in 32 bits: the host cuts what is longer.
inline constexpr int64_t kMostElements = int64_t{1} << 31;

/// Where an element goes that goes nowhere; others count bytes.
inline constexpr int64_t kNoTarget = -1;

constexpr int64_t ceil_divide(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// The power of two from n on, at most `most`.
constexpr uint32_t power_from(int64_t n, uint32_t most) {
  return n >= most ? most : std::bit_ceil(uint32_t(n < 1 ? 1 : n));
}

/// Threads that share a row of elements side by side, each with 8 of them, or
/// more where that are too many for a block. All kernels of rows agree in this,
/// so that those of several calls can keep a row where it is.
constexpr uint32_t row_lanes(int64_t columns) {
  return power_from(ceil_divide(columns, 8), kBlock);
}

/// Division of numbers below 2^31 by one that is known at the launch: a
/// product, a sum and a shift (Granlund and Montgomery, "Division by invariant
/// integers using multiplication", 1994).
struct Divider {
  uint32_t divisor = 1;
  uint32_t magic = 1;
  uint32_t shift = 0;

  constexpr Divider() = default;
  /// 1 <= d < 2^31.
  constexpr explicit Divider(uint32_t d) : divisor(d) {
    while ((uint64_t{1} << shift) < d) ++shift;
    magic =
        uint32_t(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - d)) / d + 1);
  }
  constexpr uint32_t divide(uint32_t n) const {
    const auto high = uint32_t((uint64_t{n} * magic) >> 32);
    return (high + n) >> shift;
  }
};

/// Dimensions of an index space, the innermost first, with the strides of each
/// operand in bytes; 0 where an operand broadcasts. A space without
/// dimensions is one element.
template <int kOperands>
struct Index {
  static constexpr int kMaxDims = 16;

  int32_t dims = 0;
  Divider sizes[kMaxDims];
  int64_t strides[kMaxDims][kOperands] = {};

  /// Adds a dimension around those that there are; false if it is one too
  /// many. What continues the dimension below is merged with it. Sizes of 1 are
  /// left out, and of 0, as nobody looks for elements there.
  constexpr bool add(int64_t size, const int64_t (&step)[kOperands]) {
    if (size <= 1) return true;
    if (dims > 0) {
      const int below = dims - 1;
      bool continues = true;
      for (int k = 0; k < kOperands; ++k)
        continues &= step[k] == strides[below][k] * sizes[below].divisor;
      if (continues) {
        sizes[below] = Divider(uint32_t(sizes[below].divisor * size));
        return true;
      }
    }
    if (dims == kMaxDims) return false;
    sizes[dims] = Divider(uint32_t(size));
    for (int k = 0; k < kOperands; ++k) strides[dims][k] = step[k];
    ++dims;
    return true;
  }

  /// Bytes from each operand's start to each of kCount elements i[n], which
  /// is lost. Several at once, as the divisions of one wait for each other.
  template <int kCount>
  constexpr void find(uint32_t (&i)[kCount],
                      int64_t (&at)[kCount][kOperands]) const {
    for (int n = 0; n < kCount; ++n)
      for (int k = 0; k < kOperands; ++k) at[n][k] = 0;
    for (int d = 0; d < dims; ++d) {
      const Divider size = sizes[d];
      const bool last = d + 1 == dims;
      for (int n = 0; n < kCount; ++n) {
        const uint32_t above = last ? 0 : size.divide(i[n]);
        const uint32_t here = i[n] - above * size.divisor;
        for (int k = 0; k < kOperands; ++k)
          at[n][k] += int64_t(here) * strides[d][k];
        i[n] = above;
      }
    }
  }
};

}  // namespace hotaru::cuda
