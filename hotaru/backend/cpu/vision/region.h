// Regions of interest, as their kernels walk them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cpu {

/// One row of `rois`.
template <class T>
struct Region {
  int64_t image;
  T left, top, right, bottom;
};

/// All of them. Throws if one is of an image that there is not.
template <class T>
std::vector<Region<T>> regions_of(const char* name, const Tensor& rois,
                                  int64_t images) {
  std::vector<Region<T>> out;
  out.reserve(size_t(rois.size(0)));
  const T* row = rois.data<T>();
  for (int64_t i = 0; i < rois.size(0); ++i, row += 5) {
    HOTARU_CHECK(row[0] > T(-1) && row[0] < T(images), name, ": region ", i,
                 " is of image ", double(row[0]), ", but there are ", images);
    out.push_back({int64_t(row[0]), row[1], row[2], row[3], row[4]});
  }
  return out;
}

/// A bilinear sample along one axis: two neighbours and their shares.
template <class T>
struct Tap {
  int64_t low = 0, high = 0;
  T low_share = 0, high_share = 0;
};

/// The samples of all bins along one axis, `count` a bin, each share divided
/// by their number. A sample more than a cell outside gives nothing; nearer
/// than that it takes the border's value.
template <class T>
struct Taps {
  static constexpr int64_t kMostSamples = 1 << 16;

  Taps(T start, T extent, int64_t bins, int64_t samples, int64_t size) {
    const T bin = extent / T(bins);
    const T cells = std::ceil(bin);
    HOTARU_CHECK(!(cells > kMostSamples), "roi_align: a region of ",
                 double(extent), " cells is sampled ", double(cells),
                 " times a bin, more than ", kMostSamples,
                 ": give sampling_ratio");
    count = samples > 0 ? samples : cells > 0 ? int64_t(cells) : 0;
    taps.resize(size_t(bins * count));
    for (int64_t i = 0; i < bins; ++i)
      for (int64_t k = 0; k < count; ++k)
        set(taps[size_t(i * count + k)],
            start + T(i) * bin + (T(k) + T(0.5)) * bin / T(count), size);
    for (const Tap<T>& tap : taps) {
      first = std::min(first, tap.low);
      last = std::max(last, tap.high);
    }
  }

  const Tap<T>* of(int64_t bin) const { return taps.data() + bin * count; }

  int64_t count = 0;
  std::vector<Tap<T>> taps;
  /// The cells that they touch.
  int64_t first = INT64_MAX, last = -1;

 private:
  void set(Tap<T>& tap, T at, int64_t size) const {
    if (!(at >= T(-1) && at <= T(size))) return;
    at = std::max(at, T(0));
    tap.low = std::min(int64_t(at), size - 1);
    tap.high = std::min(tap.low + 1, size - 1);
    const T share = tap.high > tap.low ? at - T(tap.low) : T(0);
    tap.low_share = (1 - share) / T(count);
    tap.high_share = share / T(count);
  }
};

}  // namespace hotaru::cpu
