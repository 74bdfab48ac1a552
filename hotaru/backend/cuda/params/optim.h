// Parameters of optimizers' steps, and how they are launched; see
// common/optim/fused_step.h.
//
//   FusedStep_<suffix>   floating suffixes of params/types.h
//     parameters   FusedStepParams
//     grid         so many blocks as it describes, each of kStepItems elements
//     block        kBlock
//     shared       none; threads do not wait for each other
#pragma once

#include "hotaru/backend/common/optim/fused_step.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

struct StepTensor {
  void* param = nullptr;
  void* grad = nullptr;
  void* state[kStepStates] = {};
  const float* step = nullptr;
  uint64_t numel = 0;
};

/// As many tensors and blocks as the 4 KB of a launch's parameters hold.
struct FusedStepParams {
  static constexpr uint32_t kTensors = 32, kBlocks = 320;

  FusedStep a;
  const float *grad_scale = nullptr, *found_inf = nullptr, *rate = nullptr;
  /// The rate where it is of 64 bits.
  const double* wide_rate = nullptr;
  const StepOptions* numbers = nullptr;
  StepTensor tensors[kTensors] = {};
  /// Share of each block: which tensor, and which stretch of its elements.
  uint32_t stretch[kBlocks] = {};
  uint8_t tensor[kBlocks] = {};
};
inline constexpr uint64_t kStepItems = uint64_t{kBlock} * 32;

}  // namespace hotaru::cuda
