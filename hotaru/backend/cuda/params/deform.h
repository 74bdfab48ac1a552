// Parameters of samples at places that the data choose, and how they are
// launched.
//
//   DeformColumns_<suffix>     columns of input, offsets and mask
//   DeformInputGrad_<suffix>   adds to input, full of zeros, of columns: by
//                              atomics, as samples lie anywhere
//     grid   a thread for each element of columns; a line is a channel's tap
//   DeformPlaceGrad_<suffix>   gradients of offsets and mask, each the sum over
//                              the group's channels in one order
//     grid   a thread for each sample; a line is a group's tap
//   parameters   DeformParams
//   block        kBlock
//   shared       none; threads do not wait for each other
//
// Suffixes are those of params/types.h.
#pragma once

#include "hotaru/backend/common/vision/deform.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// See common/vision/deform.h. Of one picture, row-major.
struct DeformParams {
  /// Columns and input, or their gradients where the kernel is of these.
  void *columns = nullptr, *input = nullptr;
  const void *offsets = nullptr, *mask = nullptr;
  /// DeformPlaceGrad's results, the second one may be null.
  void *offsets_grad = nullptr, *mask_grad = nullptr;
  /// Elements of this launch, and lines before them.
  uint32_t numel = 0;
  int64_t first = 0;
  /// Elements of a line, and of a row of them.
  Divider positions;
  int64_t row = 1;
  int64_t taps = 1;
  /// Of the input; channels are those of a group.
  int64_t channels = 1, height = 0, width = 0;
  DeformAttributes attributes;
};

}  // namespace hotaru::cuda
