// Gradients of gather and scatter along a wrapped dimension.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru::grad {

/// The gradient is sparse, not coalesced, if asked for.
void gather(const Tensor& out, const Tensor& self, int64_t dim,
            const Tensor& index, bool sparse_grad);
/// For the values of src; undefined if a number was written.
void scatter(const Tensor& out, const Tensor& self, int64_t dim,
             const Tensor& index, const Tensor& src);
void scatter_add(const Tensor& out, const Tensor& self, int64_t dim,
                 const Tensor& index, const Tensor& src);
void scatter_reduce(const Tensor& out, const Tensor& self, int64_t dim,
                    const Tensor& index, const Tensor& src,
                    const std::string& reduce, bool include_self);

}  // namespace hotaru::grad
