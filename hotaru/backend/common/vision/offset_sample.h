// A bilinear sample at a place that the data choose (arXiv:1703.06211), for all
// devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "hotaru/backend/common/both.h"
#include "hotaru/backend/common/vision/deform.h"

namespace hotaru {

/// Where its upper left corner is, and how far it lies below and beside that.
/// Corners outside of the picture count as zero.
template <class T>
struct OffsetSample {
  int64_t at = 0;  // top * width + left; the others follow
  T down = 0, right = 0;
  bool inside[4] = {};  // upper left and right, lower left and right

  OffsetSample() = default;
  HOTARU_BOTH OffsetSample(T y, T x, int64_t height, int64_t width) {
    if (!(y > -1 && y < T(height) && x > -1 && x < T(width))) return;
    const T top = std::floor(y), left = std::floor(x);
    const int64_t row = int64_t(top), column = int64_t(left);
    at = row * width + column;
    down = y - top;
    right = x - left;
    const bool rows[2] = {row >= 0, row + 1 < height};
    const bool columns[2] = {column >= 0, column + 1 < width};
    each([&](int i) { inside[i] = rows[i >> 1] && columns[i & 1]; });
  }

  HOTARU_BOTH T corner(const T* plane, int64_t width, int i) const {
    return inside[i] ? plane[at + (i >> 1) * width + (i & 1)] : T(0);
  }
  HOTARU_BOTH T share(int i) const {
    return (i >> 1 ? down : 1 - down) * (i & 1 ? right : 1 - right);
  }
  HOTARU_BOTH T value(const T* plane, int64_t width) const {
    T sum = 0;
    each([&](int i) { sum += share(i) * corner(plane, width, i); });
    return sum;
  }
  /// The value's derivatives by where it is.
  HOTARU_BOTH T by_row(const T* plane, int64_t width) const {
    return (1 - right) * (corner(plane, width, 2) - corner(plane, width, 0)) +
           right * (corner(plane, width, 3) - corner(plane, width, 1));
  }
  HOTARU_BOTH T by_column(const T* plane, int64_t width) const {
    return (1 - down) * (corner(plane, width, 1) - corner(plane, width, 0)) +
           down * (corner(plane, width, 3) - corner(plane, width, 2));
  }
  /// f(offset from the plane's beginning, share) for corners inside.
  template <class F>
  HOTARU_BOTH void for_corners(int64_t width, const F& f) const {
    each([&](int i) {
      if (inside[i]) f(at + (i >> 1) * width + (i & 1), share(i));
    });
  }

 private:
  /// One after another, so that devices keep arrays in registers.
  template <class F>
  HOTARU_BOTH static void each(const F& f) {
    f(0), f(1), f(2), f(3);
  }
};

/// Sample of a tap of the kernel at position i of `columns` a row, moved by
/// offset[0] down and by offset[positions] to the right.
template <class T>
HOTARU_BOTH OffsetSample<T> sample_at(const DeformAttributes& a, int64_t tap,
                                      int64_t i, int64_t columns,
                                      const T* offset, int64_t positions,
                                      int64_t height, int64_t width) {
  const int64_t row = i / columns, column = i - row * columns;
  const int64_t y = tap / a.kernel[1], x = tap - y * a.kernel[1];
  return {T(row * a.stride[0] + y * a.dilation[0] - a.padding[0]) + offset[0],
          T(column * a.stride[1] + x * a.dilation[1] - a.padding[1]) +
              offset[positions],
          height, width};
}

}  // namespace hotaru
