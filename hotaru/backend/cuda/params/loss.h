// Parameters of losses, and how they are launched.
//
//   NllEach_<suffix>        out of each target; total
//     grid  a thread for each target, at least one
//   NllSum_<suffix>         sums of all targets: out and total, or, where there
//                           are several blocks, partial
//     grid  nll_blocks(p)
//   NllSum_<suffix>_2       out and total of partial; one block
//   NllGrad_<suffix>        out of grad, total
//     grid  a thread for each element of out
//   UnitInterval_<suffix>   reports `code` if an element of x is not in [0, 1]
//     grid  a thread for each element of x
//   parameters   NllParams, UnitIntervalParams
//   block        kBlock
//   shared       none at launch; threads of NllSum wait for each other
#pragma once

#include "hotaru/backend/cuda/params/errors.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// See common/loss/loss.h.
struct NllParams {
  /// Loss, or gradient of x.
  void* out = nullptr;
  void* total = nullptr;
  const void *x = nullptr, *grad = nullptr, *target = nullptr;
  /// Weight of each class, or null.
  const void* weight = nullptr;
  /// Loss and weight of each block.
  double* partial = nullptr;
  uint32_t targets = 0;
  /// Elements of out, of the gradient.
  uint32_t numel = 0;
  /// Maybe none: the divisor is at least 1.
  uint32_t class_count = 0;
  Divider space, classes;
  int64_t ignore_index = -100;
  /// None, mean, sum.
  int32_t reduction = 1;
  /// Set if targets are uint8_t rather than int64_t.
  bool bytes = false;
  ErrorSink errors;
};

/// Targets that a thread of a sum takes at least, where there are so many.
inline constexpr int64_t kNllItems = 8;

/// No more than the threads of one block, which adds them up.
constexpr uint32_t nll_blocks(const NllParams& p) {
  const int64_t blocks = ceil_divide(p.targets, kBlock * kNllItems);
  return uint32_t(blocks < 1 ? 1 : blocks < kBlock ? blocks : kBlock);
}

struct UnitIntervalParams {
  const void* x = nullptr;
  uint32_t numel = 0;
  int64_t code = 0;
  ErrorSink errors;
};

}  // namespace hotaru::cuda
