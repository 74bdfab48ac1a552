// Advanced indexing: x[indices] with tensors of int64, int32, bool or uint8.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Warning where a mask's elements are uint8.
inline constexpr std::string_view kByteIndex =
    "indexing with dtype torch.uint8 is now deprecated, please use a dtype "
    "torch.bool instead.";

/// An undefined index stands for a full slice; a mask (bool, uint8) for the
/// positions of its nonzero elements, which waits for the mask. Indices
/// broadcast against each other; their dimensions stand where the first
/// indexed one was if the indexed dimensions are neighbours, else in front. An
/// index out of range is an IndexError, found when the kernel runs.
Tensor index(const Tensor& self, const Tensors& indices);
/// Writes values, broadcast to the shape that index() would give. Equal
/// indices: the last one wins, or all add up.
Tensor index_put(const Tensor& self, const Tensors& indices,
                 const Tensor& values, bool accumulate = false);
Tensor index_put_(const Tensor& self, const Tensors& indices,
                  const Tensor& values, bool accumulate = false);
/// At indices into the flattened tensor.
Tensor take(const Tensor& self, const Tensor& index);
Tensor put(const Tensor& self, const Tensor& index, const Tensor& source,
           bool accumulate = false);
Tensor put_(const Tensor& self, const Tensor& index, const Tensor& source,
            bool accumulate = false);

}  // namespace hotaru
