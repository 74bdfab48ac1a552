// Parameters of pooling, and how they are launched.
//
//   MaxPool_<suffix>        out and indices of in
//   FractionalPool_<suffix> the same; windows begin where samples say
//   MaxPoolGrad_<suffix>    out (an element of x each) of in and indices, which
//                           are MaxPool's
//   AveragePool_<suffix>[_t]  out of in; with _t its transpose
//   parameters   PoolParams
//   grid         a thread for each element of out
//
//   PlaneGather_<bytes>     out of x, by the size of elements
//   PlanePlace_<bytes>      x, full of zeros, of out
//   PlaneScatter_<suffix>   adds out to x, full of zeros
//   PlaneTargets            where it does (params/index/ordered.h)
//   parameters   PlaneParams
//   grid         a thread for each index
//
//   block        kBlock
//   shared       none; threads do not wait for each other
#pragma once

#include "hotaru/backend/cuda/params/errors.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// Windows along one dimension. The sides are below 2^31.
struct PoolAxis {
  /// Sizes of the larger picture and the pooled one.
  Divider x, y;
  int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
};

/// See common/pool/pool.h and common/resample/resample.h. Three dimensions, of
/// which missing ones are 1 and the outermost.
struct PoolParams {
  void* out = nullptr;
  const void* in = nullptr;
  /// Positions of maxima, or null.
  int64_t* indices = nullptr;
  /// Samples of FractionalPool, `dims` of each plane.
  const void* samples = nullptr;
  uint32_t numel = 0;
  uint32_t dims = 0;
  PoolAxis axis[3];
  bool adaptive = false;
  /// For averages: whether padding counts; 0, or what sums are divided by.
  bool include_pad = true;
  int64_t divisor = 0;
};

struct PlaneParams {
  void* x = nullptr;
  void* out = nullptr;
  const int64_t* index = nullptr;
  uint32_t numel = 0;
  /// Elements of a plane of indices, and of x.
  Divider plane;
  int64_t volume = 0;
  /// Sides of x, for errors: 1 to 3 dimensions.
  int64_t dims = 0;
  int64_t side[3] = {};
  /// Targets of PlaneTargets, in bytes of elements that have `item`.
  int64_t* targets = nullptr;
  int64_t item = 0;
  ErrorSink errors;
};

}  // namespace hotaru::cuda
