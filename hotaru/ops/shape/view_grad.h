// Gradients of views: the same view of the gradient, or its scatter into a
// zero tensor of the input's shape.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// For views that keep every element in order: reshapes the gradient back.
void view_grad(const char* name, const Tensor& out, const Tensor& self);
void permute_grad(const Tensor& out, const Tensor& self, const Dims& order);
void transpose_grad(const Tensor& out, const Tensor& self, int64_t dim0,
                    int64_t dim1);
void t_grad(const Tensor& out, const Tensor& self);
void expand_grad(const Tensor& out, const Tensor& self);
void select_grad(const Tensor& out, const Tensor& self, int64_t dim,
                 int64_t index);
void slice_grad(const Tensor& out, const Tensor& self, int64_t dim,
                int64_t start, int64_t end, int64_t step);
void diagonal_grad(const Tensor& out, const Tensor& self, int64_t offset,
                   int64_t dim1, int64_t dim2);
/// For pieces along a dimension, and for all slices of one.
void pieces_grad(const char* name, const std::vector<Tensor>& out,
                 const Tensor& self, int64_t dim);
void unbind_grad(const std::vector<Tensor>& out, const Tensor& self,
                 int64_t dim);
/// For windows of `out`'s last size along a dimension; windows that share
/// elements add up.
void unfold_grad(const Tensor& out, const Tensor& self, int64_t dim,
                 int64_t step);
/// For any view; elements that are seen more than once add up, and places of
/// the input that share an element get equal parts of that sum, as in PyTorch.
void as_strided_grad(const Tensor& out, const Tensor& self);

/// The gradient of a strided view of a dense memory of `extent` elements, as
/// that memory's gradient. Offsets count from the memory's first element.
Tensor scatter_strided(const Tensor& grad, int64_t extent, IntSpan strides,
                       int64_t offset);

}  // namespace hotaru
