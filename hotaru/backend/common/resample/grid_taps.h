// Which elements of a picture a point between them takes from, along one
// dimension: the formulas of grid sampling, for all devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "hotaru/backend/common/resample/cubic.h"
#include "hotaru/backend/common/resample/grid_sample.h"

namespace hotaru {

/// Input positions (-1: outside) with their weights and the weights'
/// derivatives by the grid's coordinate.
template <class A>
struct GridTaps {
  int count = 0;
  int64_t index[4];
  A weight[4], slope[4];

  HOTARU_BOTH void add(int64_t i, A w, A s) {
    index[count] = i;
    weight[count] = w;
    slope[count++] = s;
  }
  /// True if a point lies nowhere: between positions of which none is known.
  HOTARU_BOTH bool lost() const { return weight[0] != weight[0]; }
};

template <class A>
struct GridCoordinate {
  A at, slope;
};

/// Mirrors at low / 2 and high / 2 until the coordinate is between them.
template <class A>
HOTARU_BOTH GridCoordinate<A> reflected(GridCoordinate<A> c, A low, A high) {
  if (low == high) return {A(0), A(0)};
  const A least = low / A(2), span = (high - low) / A(2);
  A from = c.at - least;
  if (from < A(0)) {
    from = -from;
    c.slope = -c.slope;
  }
  const A turns = std::floor(from / span);
  const A extra = from - turns * span;
  if (std::fmod(turns, A(2)) == A(0)) return {extra + least, c.slope};
  return {span - extra + least, -c.slope};
}

/// NaN comes to lie at the end of a picture in three dimensions (deep), else at
/// its beginning.
template <class A>
HOTARU_BOTH GridCoordinate<A> padded(GridCoordinate<A> c, int64_t size,
                                     const GridSampleAttributes& a, bool deep) {
  if (a.padding == GridPadding::kZeros) return c;
  if (a.padding == GridPadding::kReflection)
    c = a.align_corners ? reflected(c, A(0), A(2 * (size - 1)))
                        : reflected(c, A(-1), A(2 * size - 1));
  const A last = A(size - 1);
  if (c.at != c.at && deep) return {last, A(0)};
  if (!(c.at > A(0))) return {A(0), A(0)};
  return c.at >= last ? GridCoordinate<A>{last, A(0)} : c;
}

/// NaN and what no integer holds is outside.
template <class A>
HOTARU_BOTH int64_t grid_index(A i, int64_t size) {
  return i >= A(0) && i < A(size) ? int64_t(i) : -1;
}

/// Taps for a grid's coordinate in [-1, 1].
template <class A>
HOTARU_BOTH GridTaps<A> grid_taps(A grid, int64_t size,
                                  const GridSampleAttributes& a, bool deep) {
  const A scale = (a.align_corners ? A(size - 1) : A(size)) / A(2);
  GridCoordinate<A> c{a.align_corners ? (grid + A(1)) * scale
                                      : ((grid + A(1)) * A(size) - A(1)) / A(2),
                      scale};
  GridTaps<A> out;
  if (a.mode != GridMode::kCubic) c = padded(c, size, a, deep);
  if (a.mode == GridMode::kNearest) {
    out.add(grid_index(std::nearbyint(c.at), size), A(1), A(0));
    return out;
  }
  const A whole = std::floor(c.at), part = c.at - whole;
  if (a.mode == GridMode::kLinear) {
    out.add(grid_index(whole, size), A(1) - part, -c.slope);
    out.add(grid_index(whole + A(1), size), part, c.slope);
    return out;
  }
#ifdef __CUDACC__
#pragma unroll 1
#endif
  for (int k = -1; k <= 2; ++k) {
    const auto tap =
        padded(GridCoordinate<A>{whole + A(k), A(1)}, size, a, deep);
    out.add(grid_index(tap.at, size), cubic(part - A(k), A(-0.75)),
            cubic_slope(part - A(k)) * c.slope);
  }
  return out;
}

}  // namespace hotaru
