// The element of a region's grid that a thread works on.
#pragma once

#include "hotaru/backend/cuda/device/errors.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/backend/cuda/params/vision.h"

namespace hotaru::cuda {

/// kByPlace: each cell of the grid has a channel of the picture for itself.
template <class T>
struct RegionCell {
  uint32_t number, region, channel, row, column;
  /// left, top, right, bottom.
  const T* box;
  /// Where its plane of the picture begins.
  int64_t plane = 0;

  __device__ explicit RegionCell(const RegionParams& p)
      : number(blockIdx.x * kBlock + threadIdx.x) {
    uint32_t above = p.columns.divide(number);
    column = number - above * p.columns.divisor;
    row = above;
    above = p.rows.divide(row);
    row -= above * p.rows.divisor;
    region = p.channels.divide(above);
    channel = above - region * p.channels.divisor;
    box = static_cast<const T*>(p.rois) + (p.first + region) * 5 + 1;
  }

  /// Looks for the plane; false where there is nothing to do, which is an
  /// error if there is no such image.
  template <bool kByPlace>
  __device__ bool find(const RegionParams& p) {
    if (number >= p.numel) return false;
    const T image = box[-1];
    if (!(image > T(-1) && image < T(p.images))) {
      report_error(p.errors, int64_t(RegionError::kImage), p.first + region,
                   std::bit_cast<int64_t>(double(image)), p.images);
      return false;
    }
    const uint32_t cell = row * p.columns.divisor + column;
    const int64_t cells = int64_t{p.rows.divisor} * p.columns.divisor;
    const int64_t here = kByPlace ? channel * cells + cell : int64_t{channel};
    plane = (int64_t(image) * p.planes + here) * p.height * p.width;
    return true;
  }

  __device__ T* grid(const RegionParams& p) const {
    return static_cast<T*>(p.grid) + number;
  }
  __device__ T* picture(const RegionParams& p) const {
    return static_cast<T*>(p.picture) + plane;
  }
};

}  // namespace hotaru::cuda
