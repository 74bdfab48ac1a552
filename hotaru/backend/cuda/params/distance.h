// Parameters of the distances of all pairs of rows, and how they are launched.
//
//   Cdist_<suffix>      a thread a distance: batch * rows * others
//   CdistGrad_<suffix>  a thread an element of x's gradient: batch * rows *
//                       columns
//   parameters   DistanceParams; blocks have kBlock threads
//
// Suffixes are those of params/types.h.
#pragma once

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// All row-major: x [batch, rows, columns], y [batch, others, columns],
/// distances and their gradient [batch, rows, others].
struct DistanceParams {
  void* out = nullptr;
  const void *x = nullptr, *y = nullptr;
  /// Of CdistGrad only.
  const void *grad = nullptr, *distances = nullptr;
  int64_t numel = 0, rows = 0, others = 0, columns = 0;
  double p = 2;
};

}  // namespace hotaru::cuda
