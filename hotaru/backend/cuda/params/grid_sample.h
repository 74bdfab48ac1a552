// Parameters of sampling pictures at points, and how it is launched.
//
//   GridSample_<suffix>      out of x and grid
//   GridSampleGrad_<suffix>  the gradients of x (added to zeros, by atomics)
//   and
//                            of the grid, each where it is not null
//   parameters   GridSampleParams
//   grid         ceil(numel / kBlock) blocks of kBlock threads, one a point
//
// Suffixes are those of params/types.h.
#pragma once

#include "hotaru/backend/common/resample/grid_sample.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// All row-major, see common/resample/grid_sample.h. Two dimensions are three
/// with a depth of 1.
struct GridSampleParams {
  void* out = nullptr;
  const void *x = nullptr, *grid = nullptr;
  /// Gradient of the result, read by GridSampleGrad.
  const void* grad = nullptr;
  void *x_grad = nullptr, *grid_grad = nullptr;
  /// Points of all samples, and of one.
  int64_t numel = 0, points = 0;
  int64_t channels = 0;
  int64_t side[3] = {1, 1, 1};
  int32_t dims = 2;
  GridSampleAttributes attributes;
};

}  // namespace hotaru::cuda
