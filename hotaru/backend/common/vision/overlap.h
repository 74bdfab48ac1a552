// How much of each other boxes cover, for all devices.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "hotaru/backend/common/both.h"

namespace hotaru {

template <class T>
struct Box {
  T left, top, right, bottom, area;
};

/// Box in a row of "nms".
template <class T>
HOTARU_BOTH Box<T> box_of(const T* row) {
  return {row[0], row[1], row[2], row[3],
          (row[2] - row[0]) * (row[3] - row[1])};
}

/// Tells whether the boxes' intersection is more than `limit` of their union.
template <class T>
HOTARU_INLINE bool covers(const Box<T>& a, const Box<T>& b, T limit) {
  const T width =
      std::max(std::min(a.right, b.right) - std::max(a.left, b.left), T(0));
  const T height =
      std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), T(0));
  const T both = width * height;
  return both / (a.area + b.area - both) > limit;
}

/// The greatest T not above x: for quotients q of T, q > x if q > it.
template <class T>
T not_above(double x) {
  const T near = T(x);
  return double(near) > x
             ? std::nextafter(near, -std::numeric_limits<T>::infinity())
             : near;
}

}  // namespace hotaru
