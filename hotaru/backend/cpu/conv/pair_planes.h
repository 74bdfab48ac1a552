// A picture of bytes in the order in which products of words read it: what a
// kernel position multiplies is one plane, in which neighbours of the output
// are neighbours. A word is a pair of int16 without the zero point, or, where
// the processor multiplies bytes, a quad of unsigned bytes with it.
#pragma once

#include <array>
#include <vector>

#include "hotaru/backend/cpu/conv/conv_kernel.h"
#include "hotaru/backend/cpu/matmul/int8/gemm_int8_kernel.h"
#include "hotaru/backend/cpu/matmul/quads/quad_kernels.h"

namespace hotaru::cpu {

using Extents = std::array<int64_t, 3>;

/// One group of one picture, in three spatial dimensions.
struct PairedWindows {
  int64_t channels;  // of the group
  Extents in, out, kernel, stride, padding, dilation;
  int32_t zero;  // x's zero point, flipped
  int flip;
  bool along_kernel;  // see int8_lanes_along_kernel
  int64_t lanes = 2;  // of a word: 2 or 4

  int64_t words_of(int64_t n) const { return (n + lanes - 1) / lanes; }
  /// Positions of the kernel that have words of their own.
  Extents taps() const {
    return {kernel[0], kernel[1],
            along_kernel ? words_of(kernel[2]) : kernel[2]};
  }
  int64_t paired_channels() const {
    return along_kernel ? channels : words_of(channels);
  }
  /// Words of a window.
  int64_t pairs() const { return paired_channels() * volume(taps()); }

  /// A row of weights [channels, kernel] as pairs, without their zero point.
  void pair_weights(const uint8_t* w, int w_flip, int32_t w_zero,
                    int32_t* to) const;
  /// The same as quads of signed bytes, (w ^ w_flip), zeros where a word has no
  /// element; returns their sum.
  int32_t quad_weights(const uint8_t* w, int w_flip, int32_t* to) const;
};

/// The planes that outputs [begin, begin + length) of each dimension read: one
/// for each channel of words and each remainder of a kernel position by the
/// stride that occurs.
class PairPlanes {
 public:
  PairPlanes(const PairedWindows& windows, const Extents& begin,
             const Extents& length);

  /// Elements of all planes, and what tiles may read behind them.
  int64_t size() const;
  void fill(const uint8_t* x, int32_t* to) const;
  /// Element of the first output, for pair p.
  const std::vector<int64_t>& offsets() const { return offsets_; }
  /// Distance of output i, counted row by row, from the first one.
  int64_t position(int64_t i) const;
  /// How many outputs from i on are neighbours.
  int64_t run(int64_t i) const {
    return plane_[1] == length_[1] && plane_[2] == length_[2]
               ? volume(length_) - i
               : length_[2] - i % length_[2];
  }

 private:
  /// Where a row of a plane begins in x, of one of a word's lanes.
  struct Line {
    const uint8_t* row;  // null: x has none there
    int64_t from;        // the first element's position
  };

  /// f(to, channel, z, y, remainder of the last dimension) for each row of each
  /// plane; f.outside(to) where the row lies outside of x.
  template <class F, class Outside>
  void for_rows(int32_t* to, const F& f, const Outside& outside) const;
  void fill_quads(const uint8_t* x, int32_t* to) const;
  /// Elements [begin, end) of a plane's row, of positions from + i * stride,
  /// that lie inside of x; end may be the smaller one.
  struct Range {
    int64_t begin, end;
  };
  Range inside(int64_t from) const;
  void fill_quad_row(const Line (&lines)[4], int32_t* to) const;
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
