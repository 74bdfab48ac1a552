// Gradients of advanced indexing.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru::grad {

void index(const Tensor& out, const Tensor& self, const Tensors& indices);
void index_put(const Tensor& out, const Tensor& self, const Tensors& indices,
               const Tensor& values, bool accumulate);
void take(const Tensor& out, const Tensor& self, const Tensor& index);
void put(const Tensor& out, const Tensor& self, const Tensor& index,
         const Tensor& source, bool accumulate);

}  // namespace hotaru::grad
