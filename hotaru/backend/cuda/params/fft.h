// Parameters of Fourier transforms, and how they are launched.
//
//   Fft_<suffix>     lines from source to target; f32 and f64, the type of
//                    real numbers
//   parameters       FftParams
//   grid             p.groups() blocks, of p.lines lines each
//   block            kBlock
//   shared           p.shared_bytes(sizeof a complex number); threads of a
//                    block wait for each other
//
// A line is n points of a longer line of positions (or all of them): where it
// begins among those is its column's, and where they lie in memory its batch's.
#pragma once

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// Numbers that lie in memory.
enum class FftNumbers : uint8_t {
  kComplex,
  kReal,
  /// The first of `points` complex numbers, n / 2 + 1; the others are their
  /// conjugates. The first one, and of even n the last, count as real.
  kHermitian,
  /// Nothing: the numbers are 1.
  kNone,
};

/// One side, source or target. What is done to a number, in this order: its
/// parts are swapped if swap_first, it is multiplied, and swapped if swap_last.
/// A transform back is the forward one of swapped numbers, swapped.
struct FftSide {
  void* data = nullptr;
  /// Bytes between positions.
  int64_t step = 0;
  /// Positions that there are: others are 0, or not written.
  uint32_t points = 0;
  FftNumbers numbers = FftNumbers::kComplex;
  bool swap_first = false, swap_last = false;
  /// 0, or n of a factor exp(-pi i j^2 / n) at position j.
  uint32_t chirp = 0;
  /// That factor's conjugate instead, and at length - j, too, for j < chirp.
  bool mirrored_chirp = false;
  uint32_t length = 0;
  /// Null, or a factor for each position.
  const void* spectrum = nullptr;
  double scale = 1;
  /// Positions between points of a line.
  uint32_t stride = 1;
  /// Neighbouring threads take neighbouring lines.
  bool across = false;
};

/// One pass of Stockham's transform: butterflies of a radix over points that
/// are count apart, count = n / radix; stride: product of the radices before.
struct FftPass {
  uint32_t radix = 1;
  Divider stride, count, degree;
};

struct FftParams {
  /// Most passes: of more points, 3 fill what a block may have of shared
  /// memory.
  static constexpr int kMostPasses = 12;

  FftSide source, target;
  Divider n, lines;
  /// In all.
  uint32_t total = 0;
  int32_t passes = 0;
  FftPass pass[kMostPasses];
  /// Columns of each batch, the innermost dimension first: source's and
  /// target's positions.
  Divider columns;
  Index<2> column;
  /// Bytes from data's beginning.
  Index<2> batch;
  /// 0, or what results are multiplied by: exp(-2 pi i k c / twiddle) of point
  /// k, c the place in the columns' innermost dimension.
  uint32_t twiddle = 0;
  Divider inner;

  constexpr uint32_t groups() const {
    return uint32_t(ceil_divide(total, lines.divisor));
  }
  constexpr uint32_t shared_bytes(uint32_t item) const;
};

/// Where a line lies.
struct FftLine {
  int64_t from, to;
  uint32_t first, begin, inner;
};

/// A table of roots, two buffers, and places of lines where there are several.
constexpr uint32_t FftParams::shared_bytes(uint32_t item) const {
  const uint32_t places =
      lines.divisor > 1 ? lines.divisor * uint32_t(sizeof(FftLine)) : 0;
  return item * n.divisor * (1 + 2 * lines.divisor) + places;
}

/// Points of the longest line that a block transforms: 48 KiB in all.
constexpr uint32_t fft_most_points(uint32_t item) {
  return 49152 / 3 / item;
}

}  // namespace hotaru::cuda
