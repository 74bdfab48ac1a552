// Gradients of products of matrices. Each records `out`, a product that was
// just computed, if an operand asks for a gradient.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

void record_mm(const Tensor& out, const Tensor& a, const Tensor& b);
void record_bmm(const Tensor& out, const Tensor& a, const Tensor& b);
void record_mv(const Tensor& out, const Tensor& matrix, const Tensor& vec);
void record_dot(const Tensor& out, const Tensor& a, const Tensor& b);
/// For out = beta * self + alpha * (a @ b); `out` may be `self`, written in
/// place. `name` is that of the node.
void record_addmm(const char* name, const Tensor& out, const Tensor& self,
                  const Tensor& a, const Tensor& b, const Scalar& beta,
                  const Scalar& alpha);
void record_addmv(const Tensor& out, const Tensor& self, const Tensor& matrix,
                  const Tensor& vec, const Scalar& beta, const Scalar& alpha);

}  // namespace hotaru
