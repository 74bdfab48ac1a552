// Parameters of the scaling of losses, and how it is launched; see
// common/pointwise/amp.h.
//
//   AmpUnscale_<suffix>   floating suffixes of params/types.h
//     parameters   AmpUnscaleParams
//     grid         a thread for each element
//     block        kBlock
//   AmpUpdate
//     parameters   AmpUpdateParams
//     grid, block  one thread of one block of kBlock works
//   shared         none; threads do not wait for each other
#pragma once

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

struct AmpUnscaleParams {
  void* grad = nullptr;
  float* found_inf = nullptr;
  const float* inv_scale = nullptr;
  uint32_t numel = 0;
};

struct AmpUpdateParams {
  float* scale = nullptr;
  int32_t* tracker = nullptr;
  const float* found_inf = nullptr;
  double growth = 2, backoff = 0.5;
  int64_t interval = 2000;
};

}  // namespace hotaru::cuda
