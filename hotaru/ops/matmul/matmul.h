// Products of matrices and vectors. Operands have one dtype; results are
// row-major. Errors carry PyTorch's texts.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// [m, k] @ [k, n].
Tensor mm(const Tensor& self, const Tensor& mat2);
/// [b, m, k] @ [b, k, n].
Tensor bmm(const Tensor& self, const Tensor& mat2);
/// [m, k] @ [k].
Tensor mv(const Tensor& self, const Tensor& vec);
/// Sum of products of two vectors; vdot conjugates the first.
Tensor dot(const Tensor& self, const Tensor& tensor);
Tensor vdot(const Tensor& self, const Tensor& other);
/// [m], [n] -> [m, n].
Tensor outer(const Tensor& self, const Tensor& vec2);
/// beta * self + alpha * (mat1 @ mat2); self broadcasts to the product.
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
             const Scalar& beta = 1, const Scalar& alpha = 1);
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec,
             const Scalar& beta = 1, const Scalar& alpha = 1);
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
               const Scalar& beta = 1, const Scalar& alpha = 1);
/// The same into self, whose shape is the product's.
Tensor addmm_(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
              const Scalar& beta = 1, const Scalar& alpha = 1);
Tensor addmv_(const Tensor& self, const Tensor& mat, const Tensor& vec,
              const Scalar& beta = 1, const Scalar& alpha = 1);
Tensor baddbmm_(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                const Scalar& beta = 1, const Scalar& alpha = 1);
/// Python's @: vectors, matrices, and batches that broadcast.
Tensor matmul(const Tensor& self, const Tensor& other);
/// input [..., k] times weight [n, k] transposed, plus bias [n] if defined.
Tensor linear(const Tensor& input, const Tensor& weight,
              const Tensor& bias = {});
/// out[..., o] = sum_ij input1[..., i] weight[o, i, j] input2[..., j] + bias.
Tensor bilinear(const Tensor& input1, const Tensor& input2,
                const Tensor& weight, const Tensor& bias = {});

/// Einstein's summation convention, e.g. "bij,bjk->bik"; "..." broadcasts.
Tensor einsum(const std::string& equation, const Tensors& operands);
/// Sums products over pairs of dimensions.
Tensor tensordot(const Tensor& self, const Tensor& other, IntSpan dims_self,
                 IntSpan dims_other);

}  // namespace hotaru
