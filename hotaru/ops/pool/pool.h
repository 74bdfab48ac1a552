// Pooling over the last one to three dimensions of [(N,) C, ...]. Lists have
// one entry a dimension or a single one for all; an empty stride is the
// kernel's size. Gradients to any order.
#pragma once

#include <tuple>

#include "hotaru/backend/common/pool/pool.h"
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
/// Throws in the words of `op` when one of the dimensions from `first` on is
/// empty.
void check_not_empty(const char* op, const Tensor& self, int64_t first);

Tensor adaptive_avg_pool(const Tensor& self, IntSpan output_size);
std::tuple<Tensor, Tensor> adaptive_max_pool(const Tensor& self,
                                             IntSpan output_size);

/// The reverse of max_pool, of 2 or 3 dimensions: every element goes to its
/// index in a plane of zeros of size output_size. Where indices repeat, the
/// last element stays. Throws Error for an index outside of the plane.
Tensor max_unpool(const Tensor& self, const Tensor& indices,
                  IntSpan output_size);
/// Maxima and positions over windows of one size at random places, which
/// samples [N, C, dims] in [0, 1) decide (Graham, Fractional Max-Pooling,
/// 2014). samples are of self's dtype, their order is that of PyTorch: width
/// first for 2 dimensions, depth first for 3.
std::tuple<Tensor, Tensor> fractional_max_pool(const Tensor& self,
                                               IntSpan kernel,
                                               IntSpan output_size,
                                               const Tensor& samples);

/// Records that `out` are the elements of `self` at `indices` in `planes`.
void record_selection(const char* node, const Tensor& out, const Tensor& self,
                      const Tensor& indices, const PlaneAttributes& planes);

}  // namespace hotaru
