// Parameters of what is done to complex lines beside a library's transform.
//
//   FftScale_<suffix>  grid  a thread for each number
#pragma once

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// to = scale * from, or its conjugate; steps are in bytes.
struct FftScaleParams {
  const void* from = nullptr;
  void* to = nullptr;
  int64_t from_step = 0, from_line = 0, to_step = 0, to_line = 0;
  /// Numbers of a line, and of all lines.
  Divider points;
  uint32_t total = 0;
  double scale = 1;
  /// The first number's imaginary part becomes 0, and the last one's.
  bool real_first = false, real_last = false;
  bool conjugate = false;
};

}  // namespace hotaru::cuda
