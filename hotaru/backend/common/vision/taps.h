// Where regions of interest are sampled along one axis (arXiv:1703.06870), for
// all devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "hotaru/backend/common/both.h"
#include "hotaru/backend/common/vision/regions.h"

namespace hotaru {

/// Samples a bin at most where the region says how many.
inline constexpr int64_t kMostSamples = 1 << 16;

/// A bilinear sample along one axis: two neighbours and their shares.
template <class T>
struct Tap {
  int64_t low = 0, high = 0;
  T low_share = 0, high_share = 0;

  /// True if it gives nothing, whatever the neighbours are.
  HOTARU_BOTH bool is_outside() const {
    return low_share == T(0) && high_share == T(0);
  }
};

/// A region along one axis of a picture, in bins.
template <class T>
struct BinAxis {
  T start, extent, bin;
  /// Samples a bin, or -1 if there are more than kMostSamples.
  int64_t count;
  int64_t size;

  HOTARU_BOTH BinAxis(T from, T to, const RegionAttributes& a, int64_t bins,
                      int64_t size)
      : size(size) {
    const T scale = T(a.scale), offset = T(a.aligned ? 0.5 : 0);
    start = from * scale - offset;
    extent = to * scale - offset - start;
    // As the first version had it: no region is empty.
    if (!a.aligned && extent < T(1)) extent = T(1);
    bin = extent / T(bins);
    const T cells = std::ceil(bin);
    if (a.samples > 0)
      count = a.samples;
    else if (cells > T(kMostSamples))
      count = -1;
    else
      count = cells > T(0) ? int64_t(cells) : 0;
  }

  /// Sample k of bin i. More than a cell outside it gives nothing; nearer than
  /// that the border's value.
  HOTARU_BOTH Tap<T> tap(int64_t i, int64_t k) const {
    Tap<T> tap;
    T at = start + T(i) * bin + (T(k) + T(0.5)) * bin / T(count);
    if (!(at >= T(-1) && at <= T(size))) return tap;
    if (at < T(0)) at = T(0);
    tap.low = int64_t(at) < size - 1 ? int64_t(at) : size - 1;
    tap.high = tap.low + 1 < size - 1 ? tap.low + 1 : size - 1;
    const T share = tap.high > tap.low ? at - T(tap.low) : T(0);
    tap.low_share = 1 - share;
    tap.high_share = share;
    return tap;
  }
};

}  // namespace hotaru
