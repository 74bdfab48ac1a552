// Which bin of a histogram an element falls into.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hotaru/backend/common/both.h"

namespace hotaru {

/// Bins between sorted edges. Where they are equally far apart, the quotient
/// that names the bin is at most rounded to a neighbour, from which the edges
/// themselves lead on.
template <class T>
struct BetweenEdges {
  const T* edges;
  int64_t bins;
  bool equal;
  T scale = T(bins) / (edges[bins] - edges[0]);

  HOTARU_BOTH bool holds(T x) const {
    return (x >= edges[0]) & (x <= edges[bins]);
  }
  HOTARU_BOTH int64_t operator()(T x) const {
    if (!equal) {
      // The last edge that is not above x; nvcc miscompiles the library's
      // search without a word.
      int64_t at = 0;
      for (int64_t above = bins; above - at > 1;) {
        const int64_t middle = at + (above - at) / 2;
        (x < edges[middle] ? above : at) = middle;
      }
      return at;
    }
    const T quotient = (x - edges[0]) * scale;
    // NaN, of edges whose distance overflows, begins at the first.
    int64_t at = quotient > 0 ? int64_t(std::min(quotient, T(bins - 1))) : 0;
    at = std::min(at, bins - 1);
    while (at > 0 && x < edges[at]) --at;
    while (at + 1 < bins && x >= edges[at + 1]) ++at;
    return at;
  }
};

/// Bins that divide [low, high].
template <class T>
struct EqualBins {
  T low, high, width;
  int64_t bins;

  HOTARU_BOTH bool holds(T x) const { return (x >= low) & (x <= high); }
  HOTARU_BOTH int64_t operator()(T x) const {
    const T quotient = (x - low) * T(bins) / width;
    return quotient < T(bins) ? int64_t(quotient) : bins - 1;
  }
};

}  // namespace hotaru
