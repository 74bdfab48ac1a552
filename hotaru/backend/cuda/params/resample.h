// Parameters of interpolation, and how it is launched. Average pooling has
// those of params/pool.h.
//
//   Interpolate_<suffix>     out y of in x; floating suffixes and u8
//   Interpolate_<suffix>_t   its transpose: out x of in y
//   Lanczos_<suffix>[_t]     the same for kLanczos, which the others lack; f32
//                            and f64
//   parameters   ResampleParams
//   grid         a thread for each element of out
//   block        kBlock
//   shared       none; threads do not wait for each other
#pragma once

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// See common/resample/resample.h, whose modes these are.
enum class Interpolation : uint8_t { kNearest, kLinear, kCubic, kLanczos };

/// One dimension, x's side and y's.
struct ResampleAxis {
  Divider x, y;
  /// Output position o lies at scale * (o + shift) - shift of x, but at
  /// scale * (o + shift) of kNearest. Rounded to what is computed in.
  double scale = 1, shift = 0;
  /// Output positions are input positions.
  bool same = true;
};

/// Three dimensions, of which missing ones are 1 and the outermost.
struct ResampleParams {
  void* out = nullptr;
  const void* in = nullptr;
  uint32_t numel = 0;
  Interpolation mode = Interpolation::kNearest;
  bool antialias = false;
  ResampleAxis axis[3];
};

}  // namespace hotaru::cuda
