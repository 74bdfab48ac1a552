#include "hotaru/ops/matmul/matmul_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

using autograd::Backward;

Tensor adjoint(const Tensor& t) {
  return conj(transpose(t, -2, -1));
}

Scalar conjugate(const Scalar& s) {
  return s.is_complex() ? Scalar(std::conj(s.to_complex())) : s;
}

Tensor scaled(const Tensor& t, const Scalar& factor) {
  return factor == Scalar(1) ? t : mul(t, conjugate(factor));
}

/// Tells whether the columns of a matrix lie one after another, as those of a
/// transposed weight do. Its gradient then is to lie so, too.
bool by_columns(const Tensor& t) {
  return t.dim() == 2 && t.strides()[0] == 1 && t.strides()[1] == t.sizes()[0];
}

// Products of the gradient with the other operand, for matrices or batches.
Tensor grad_left(const Tensor& g, const Tensor& b, bool columns) {
  if (g.dim() == 3) return bmm(g, adjoint(b));
  return columns ? t(mm(conj(b), t(g))) : mm(g, adjoint(b));
}
Tensor grad_right(const Tensor& g, const Tensor& a, bool columns) {
  if (g.dim() == 3) return bmm(adjoint(a), g);
  return columns ? t(mm(t(g), conj(a))) : mm(adjoint(a), g);
}

void record_product(const char* name, const Tensor& out, const Tensor& a,
                    const Tensor& b) {
  if (!autograd::needs_grad(a, b)) return;
  autograd::record(
      name, out, {a, b}, {a, b},
      [left = by_columns(a), right = by_columns(b)](
          Backward& node, const Tensor& g) -> Tensors {
        return {node.needs(0) ? grad_left(g, node.saved(1), left) : Tensor(),
                node.needs(1) ? grad_right(g, node.saved(0), right) : Tensor()};
      });
}

}  // namespace

void record_mm(const Tensor& out, const Tensor& a, const Tensor& b) {
  record_product("MmBackward0", out, a, b);
}

void record_bmm(const Tensor& out, const Tensor& a, const Tensor& b) {
  record_product("BmmBackward0", out, a, b);
}

void record_mv(const Tensor& out, const Tensor& matrix, const Tensor& vec) {
  if (!autograd::needs_grad(matrix, vec)) return;
  autograd::record(
      "MvBackward0", out, {matrix, vec}, {matrix, vec},
      [](Backward& node, const Tensor& g) -> Tensors {
        return {node.needs(0) ? outer(g, conj(node.saved(1))) : Tensor(),
                node.needs(1) ? mv(adjoint(node.saved(0)), g) : Tensor()};
      });
}

void record_dot(const Tensor& out, const Tensor& a, const Tensor& b) {
  if (!autograd::needs_grad(a, b)) return;
  autograd::record(
      "DotBackward0", out, {a, b}, {a, b},
      [](Backward& node, const Tensor& g) -> Tensors {
        return {node.needs(0) ? mul(g, conj(node.saved(1))) : Tensor(),
                node.needs(1) ? mul(g, conj(node.saved(0))) : Tensor()};
      });
}

void record_addmm(const char* name, const Tensor& out, const Tensor& self,
                  const Tensor& a, const Tensor& b, const Scalar& beta,
                  const Scalar& alpha) {
  if (!autograd::needs_grad(self, a, b)) return;
  autograd::record(
      name, out, {self, a, b}, {a, b},
      [beta, alpha, size = Dims(self.sizes()), left = by_columns(a),
       right = by_columns(b)](Backward& node, const Tensor& g) -> Tensors {
        Tensors out(3);
        if (node.needs(0)) out[0] = scaled(sum_to(g, size), beta);
        if (node.needs(1))
          out[1] = scaled(grad_left(g, node.saved(1), left), alpha);
        if (node.needs(2))
          out[2] = scaled(grad_right(g, node.saved(0), right), alpha);
        return out;
      });
}

void record_addmv(const Tensor& out, const Tensor& self, const Tensor& matrix,
                  const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  if (!autograd::needs_grad(self, matrix, vec)) return;
  autograd::record("AddmvBackward0", out, {self, matrix, vec}, {matrix, vec},
                   [beta, alpha, size = Dims(self.sizes())](
                       Backward& node, const Tensor& g) -> Tensors {
                     Tensors out(3);
                     if (node.needs(0)) out[0] = scaled(sum_to(g, size), beta);
                     if (node.needs(1))
                       out[1] = scaled(outer(g, conj(node.saved(1))), alpha);
                     if (node.needs(2))
                       out[2] = scaled(mv(adjoint(node.saved(0)), g), alpha);
                     return out;
                   });
}

}  // namespace hotaru
