// Parameters of grids of regions of interest, and how they are launched.
//
//   [Ps]RoiAlign_<suffix>      grid of picture
//   [Ps]RoiAlignGrad_<suffix>  adds to picture, full of zeros, of grid
//   RoiPool_<suffix>           grid and places of picture
//   RoiPoolGrad_<suffix>       adds to picture of grid and places
//   PsRoiPool_<suffix>         grid of picture
//   PsRoiPoolGrad_<suffix>     adds to picture of grid
//     parameters   RegionParams
//     grid         ceil(numel / kBlock) blocks of kBlock threads, one for each
//                  element of the regions' grids
//     shared       none; threads do not wait for each other
//
// Sums are made by atomics: an element of a picture does not know which of the
// regions' samples it is in. Suffixes are those of params/types.h.
#pragma once

#include "hotaru/backend/common/vision/regions.h"
#include "hotaru/backend/cuda/params/errors.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// Codes of errors, with their numbers; x: the bits of a double.
enum class RegionError : int64_t {
  kImage,    // region, image x, images
  kSamples,  // extent x, samples x
};

/// See common/vision/regions.h.
struct RegionParams {
  /// Of the first region of this launch.
  void* grid = nullptr;
  int32_t* places = nullptr;
  const void* rois = nullptr;
  void* picture = nullptr;
  /// Elements of this launch's grids, and regions before them.
  uint32_t numel = 0;
  int64_t first = 0;
  /// Of a grid.
  Divider channels, rows, columns;
  /// Of the picture.
  int64_t images = 0, planes = 0, height = 0, width = 0;
  RegionAttributes attributes;
  ErrorSink errors;
};

}  // namespace hotaru::cuda
