// Parameters of the distances of all pairs of rows, and how they are launched.
//
//   Cdist_<suffix>      a thread a distance: batch * rows * others
//   Pdist_<suffix>      a thread a distance: those of the pairs of different
//                       rows; PairParams
//   CdistGrad_<suffix>  a thread an element of x's gradient: batch * rows *
//                       columns
//   parameters   DistanceParams but for Pdist; blocks have kBlock threads
//
// Suffixes are those of params/types.h.
#pragma once

#include "hotaru/backend/cuda/params/index.h"
#include "hotaru/backend/cuda/params/triangle.h"

namespace hotaru::cuda {

/// All row-major: x [batch, rows, columns], y [batch, others, columns],
/// distances and their gradient [batch, rows, others].
struct DistanceParams {
  void* out = nullptr;
  const void *x = nullptr, *y = nullptr;
  /// Operands of CdistGrad only.
  const void *grad = nullptr, *distances = nullptr;
  int64_t numel = 0, rows = 0, others = 0, columns = 0;
  double p = 2;
};

/// Row-major x [n, columns]; each pair of different rows once, the first row's
/// first.
struct PairParams {
  void* out = nullptr;
  const void* x = nullptr;
  int64_t columns = 0;
  double p = 2;
  Triangle pairs;
};

}  // namespace hotaru::cuda
