// Whole cells of a picture in the bins of a region along one axis
// (arXiv:1504.08083), for all devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "hotaru/backend/common/both.h"

namespace hotaru {

struct Cells {
  int64_t begin, end;

  HOTARU_BOTH int64_t count() const { return end > begin ? end - begin : 0; }
};

/// How bins are cut. Ends of regions count where maxima are taken; averages
/// leave the picture's last row and column out and their gradients do not, both
/// as torchvision has them.
enum class Cut { kMaxima, kAverages, kGradients };

/// C's round, of what fits a picture.
template <class T>
HOTARU_BOTH int64_t rounded(T x) {
  constexpr T kFar = T(1 << 30);
  if (!(x > -kFar)) return -int64_t(kFar);
  return int64_t(std::round(x < kFar ? x : kFar));
}

/// Axis of cells, from a region's sides, in cells, and a picture of `size` of
/// them.
template <class T>
struct CellAxis {
  int64_t first, limit;
  T step;

  HOTARU_BOTH CellAxis(T from, T to, int64_t bins, int64_t size, Cut cut)
      : first(rounded(from)), limit(size - (cut == Cut::kAverages)) {
    const int64_t extent = rounded(to) - first + (cut == Cut::kMaxima);
    step = T(extent > 1 ? extent : 1) / T(bins);
  }
  HOTARU_BOTH Cells cells(int64_t bin) const {
    return {inside(std::floor(T(bin) * step)),
            inside(std::ceil(T(bin + 1) * step))};
  }

 private:
  HOTARU_BOTH int64_t inside(T x) const {
    const int64_t at = int64_t(x) + first;
    return at < 0 ? 0 : at < limit ? at : limit;
  }
};

}  // namespace hotaru
