// Largest and smallest elements over dimensions. NaN counts as larger and as
// smaller than everything. An empty dimension to choose from is an IndexError.
#pragma once

#include <tuple>

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Over all elements. Gradients are shared evenly among equal extremes.
Tensor max(const Tensor& self);
Tensor min(const Tensor& self);
/// Over several dimensions; all for an empty list.
Tensor amax(const Tensor& self, IntSpan dims = {}, bool keepdim = false);
Tensor amin(const Tensor& self, IntSpan dims = {}, bool keepdim = false);
/// Smallest and largest at once; None for all elements.
std::tuple<Tensor, Tensor> aminmax(const Tensor& self,
                                   Optional<int64_t> dim = {},
                                   bool keepdim = false);

/// Values and int64 indices along a dimension; the first one among equals,
/// which also receives the gradient.
std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim,
                               bool keepdim = false);
std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim,
                               bool keepdim = false);
/// Index into the flattened tensor for None.
Tensor argmax(const Tensor& self, Optional<int64_t> dim = {},
              bool keepdim = false);
Tensor argmin(const Tensor& self, Optional<int64_t> dim = {},
              bool keepdim = false);

}  // namespace hotaru
