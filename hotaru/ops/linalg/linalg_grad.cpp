#include "hotaru/ops/linalg/linalg_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/linalg/linalg.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/shape/triangle.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

using autograd::Backward;
using autograd::record;
using autograd::saved_output;

Tensor adjoint(const Tensor& t) {
  return conj(transpose(t, -2, -1));
}

/// One number for each matrix, to multiply the matrix by.
Tensor per_matrix(const Tensor& t) {
  return unsqueeze(unsqueeze(t, -1), -1);
}

/// The lower triangle with half of the diagonal.
Tensor half_lower(const Tensor& t) {
  return (tril(t) + tril(t, -1)) * 0.5;
}

/// The Hermitian matrix whose lower triangle is t's; the diagonal is real.
Tensor hermitian(const Tensor& t) {
  if (!t.is_complex()) return tril(t) + adjoint(tril(t, -1));
  const Tensor half = half_lower(t);
  return half + adjoint(half);
}

}  // namespace

void record_inverse(const Tensor& out, const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  record("LinalgInvExBackward0", out, {A}, {saved_output(out)},
         [](Backward& b, const Tensor& g) -> Tensors {
           const Tensor inverse = adjoint(b.saved(0));
           return {-matmul(inverse, matmul(g, inverse))};
         });
}

void record_determinant(const Tensor& out, const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  record("LinalgDetBackward0", out, {A}, {A, saved_output(out)},
         [](Backward& b, const Tensor& g) -> Tensors {
           // A determinant of zero gives zeros, as in PyTorch.
           const Tensor A = b.saved(0), det = b.saved(1);
           const Tensor unit = eye(A.size(-1), A.size(-1), TensorOptions(A));
           const Tensor regular = where(per_matrix(eq(det, 0)), unit, A);
           return {per_matrix(g * conj(det)) * adjoint(linalg_inv(regular))};
         });
}

void record_slogdet(const Tensor& sign, const Tensor& logabs, const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  record("LinalgSlogdetBackward0", Tensors{sign, logabs}, {A},
         {A, saved_output(sign)},
         [](Backward& b, const Tensors& grads) -> Tensors {
           const Tensor A = b.saved(0), sign = b.saved(1);
           Tensor g = grads[1];
           // The sign of a real determinant is constant, a complex one turns.
           if (sign.is_complex() && grads[0].defined()) {
             const Tensor turn =
                 hotaru::mul(imag(conj(grads[0]) * sign),
                             Scalar(std::complex<double>(0, -1)));
             g = g.defined() ? g + turn : turn;
           }
           if (!g.defined()) return {zeros_like(A)};
           return {per_matrix(g) * adjoint(linalg_inv(A))};
         });
}

void record_solve(const Tensor& out, const Tensor& A, const Tensor& B) {
  if (!autograd::needs_grad(A, B)) return;
  record(
      "LinalgSolveExBackward0", out, {A, B}, {A, saved_output(out)},
      [](Backward& b, const Tensor& g) -> Tensors {
        const Tensor gb = linalg_solve(adjoint(b.saved(0)), g);
        return {b.needs(0) ? -matmul(gb, adjoint(b.saved(1))) : Tensor(), gb};
      });
}

void record_cholesky(const Tensor& out, const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  record("LinalgCholeskyExBackward0", out, {A}, {saved_output(out)},
         [](Backward& b, const Tensor& g) -> Tensors {
           const Tensor L = b.saved(0);
           const Tensor inverse = linalg_inv(L);
           const Tensor product = matmul(adjoint(L), g);
           if (L.is_complex()) {
             const Tensor inner =
                 (tril(product) + adjoint(tril(product, -1))) * 0.5;
             return {matmul(adjoint(inverse), matmul(inner, inverse))};
           }
           const Tensor inner = half_lower(product);
           const Tensor grad = matmul(adjoint(inverse), matmul(inner, inverse));
           return {(grad + adjoint(grad)) * 0.5};
         });
}

void record_qr(const Tensor& Q, const Tensor& R, const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  record("LinalgQrBackward0", Tensors{Q, R}, {A},
         {saved_output(Q), saved_output(R)},
         [](Backward& b, const Tensors& grads) -> Tensors {
           const Tensor Q = b.saved(0), R = b.saved(1);
           const Tensor gq = grads[0].defined() ? grads[0] : zeros_like(Q);
           const Tensor gr = grads[1].defined() ? grads[1] : zeros_like(R);
           const Tensor m = matmul(R, adjoint(gr)) - matmul(adjoint(gq), Q);
           const Tensor right = gq + matmul(Q, hermitian(m));
           // right R^-H, as the solution of X R^H = right.
           return {linalg_solve(adjoint(R), right, false)};
         });
}

}  // namespace hotaru
