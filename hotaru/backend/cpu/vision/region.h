// Regions of interest, as their kernels walk them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "hotaru/backend/common/vision/taps.h"
#include "hotaru/core/checks/check.h"
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

/// The samples of all bins along one axis, their shares divided by a bin's
/// number of them.
template <class T>
struct Taps {
  Taps(const BinAxis<T>& axis, int64_t bins) : count(axis.count) {
    HOTARU_CHECK(count >= 0, "roi_align: a region of ", double(axis.extent),
                 " cells is sampled ", double(std::ceil(axis.bin)),
                 " times a bin, more than ", kMostSamples,
                 ": give sampling_ratio");
    taps.reserve(size_t(bins * count));
    for (int64_t i = 0; i < bins; ++i)
      for (int64_t k = 0; k < count; ++k) taps.push_back(axis.tap(i, k));
    for (Tap<T>& tap : taps) {
      tap.low_share /= T(count);
      tap.high_share /= T(count);
      first = std::min(first, tap.low);
      last = std::max(last, tap.high);
    }
  }

  const Tap<T>* of(int64_t bin) const { return taps.data() + bin * count; }

  int64_t count = 0;
  std::vector<Tap<T>> taps;
  /// The cells that they touch.
  int64_t first = INT64_MAX, last = -1;
};

}  // namespace hotaru::cpu
