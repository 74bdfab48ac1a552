// Elements chosen by value. The shape of a result depends on the values, so
// these operators wait for them.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Positions of the nonzero elements in row-major order, int64 [n, dims].
Tensor nonzero(const Tensor& self);
/// The same, a vector for each dimension; a number has one.
Tensors nonzero_numpy(const Tensor& self);
/// The elements where mask (bool, broadcast against self) is true, [n].
Tensor masked_select(const Tensor& self, const Tensor& mask);
/// Elements of self where mask is true, replaced by those of source in order.
/// Does not wait; too few elements in source are an error of the kernel.
Tensor masked_scatter(const Tensor& self, const Tensor& mask,
                      const Tensor& source);
Tensor masked_scatter_(const Tensor& self, const Tensor& mask,
                       const Tensor& source);

}  // namespace hotaru
