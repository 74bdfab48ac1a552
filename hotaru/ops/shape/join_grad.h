// Gradients of copies that join, repeat and rearrange.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru::grad {

void cat(const Tensor& out, const Tensors& tensors, int64_t dim);
void stack(const Tensor& out, const Tensors& tensors, int64_t dim);
/// `shape` alternates repetitions and sizes.
void repeat(const Tensor& out, const Tensor& self, IntSpan shape);
void flip(const Tensor& out, const Tensor& self, IntSpan dims);
void roll(const Tensor& out, const Tensor& self, IntSpan shifts, IntSpan dims);
void rot90(const Tensor& out, const Tensor& self, int64_t k, IntSpan dims);
void block_diag(const Tensor& out, const Tensors& tensors);

}  // namespace hotaru::grad
