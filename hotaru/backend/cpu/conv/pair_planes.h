// A picture of bytes in the order in which products of pairs read it: what a
// kernel position multiplies is one plane, in which neighbours of the output
// are neighbours.
#pragma once

#include <array>
#include <vector>

#include "hotaru/backend/cpu/matmul/gemm_int8_kernel.h"

namespace hotaru::cpu {

using Extents = std::array<int64_t, 3>;

constexpr int64_t volume(const Extents& e) {
  return e[0] * e[1] * e[2];
}

/// One group of one picture, in three spatial dimensions.
struct PairedWindows {
  int64_t channels;  // of the group
  Extents in, out, kernel, stride, padding, dilation;
  int32_t zero;  // x's zero point, flipped
  int flip;
  bool along_kernel;  // see int8_pairs_along_kernel

  /// Positions of the kernel that have pairs of their own.
  Extents taps() const {
    return {kernel[0], kernel[1],
            along_kernel ? int8_pairs(kernel[2]) : kernel[2]};
  }
  int64_t paired_channels() const {
    return along_kernel ? channels : int8_pairs(channels);
  }
  int64_t pairs() const { return paired_channels() * volume(taps()); }

  /// A row of weights [channels, kernel] as pairs, without their zero point.
  void pair_weights(const uint8_t* w, int w_flip, int32_t w_zero,
                    int32_t* to) const;
};

/// The planes that outputs [begin, begin + length) of each dimension read: one
/// for each paired channel and each remainder of a kernel position by the
/// stride that occurs.
class PairPlanes {
 public:
  PairPlanes(const PairedWindows& windows, const Extents& begin,
             const Extents& length);

  /// Elements of all planes, and what tiles may read behind them.
  int64_t size() const;
  void fill(const uint8_t* x, int32_t* to) const;
  /// Of pair p the first output's element.
  const std::vector<int64_t>& offsets() const { return offsets_; }
  /// Of output i, counted row by row, the distance from the first one's.
  int64_t position(int64_t i) const;
  /// How many outputs from i on are neighbours.
  int64_t run(int64_t i) const {
    return plane_[1] == length_[1] && plane_[2] == length_[2]
               ? volume(length_) - i
               : length_[2] - i % length_[2];
  }

 private:
  void fill_row(const uint8_t* first, const uint8_t* second,
                int64_t second_shift, int64_t from, int32_t* to) const;

  const PairedWindows& w_;
  Extents begin_, length_;
  /// Elements of a plane's dimensions.
  Extents plane_;
  /// Remainders that occur, and which one a remainder is.
  std::array<std::vector<int64_t>, 3> remainders_;
  std::vector<int64_t> offsets_;
};

}  // namespace hotaru::cpu
