// Pooling over the last one to three dimensions of [(N,) C, ...]. Lists have
// one entry a dimension or a single one for all; an empty stride is the
// kernel's size. Gradients to any order.
#pragma once

#include <tuple>

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Where windows lie.
struct PoolWindows {
  IntSpan kernel, stride, padding, dilation;
  bool ceil_mode = false;
};

/// Largest elements and their positions in their planes (int64; undefined
/// unless asked for). NaN wins. dims: 1, 2 or 3.
std::tuple<Tensor, Tensor> max_pool(const Tensor& self, int64_t dims,
                                    const PoolWindows& windows,
                                    bool with_indices);
/// Means; padding counts as zeros if include_pad; a divisor other than 0
/// replaces the number of elements.
Tensor avg_pool(const Tensor& self, int64_t dims, const PoolWindows& windows,
                bool include_pad, Optional<int64_t> divisor = {});
/// Means and maxima over windows that divide the input into output_size parts.
Tensor adaptive_avg_pool(const Tensor& self, IntSpan output_size);
std::tuple<Tensor, Tensor> adaptive_max_pool(const Tensor& self,
                                             IntSpan output_size);

}  // namespace hotaru
