// Gradients of QR and LU. Where one side of a matrix is longer, the rest of it
// is a product of the square factors, whose gradients it joins (S. Walter and
// L. Lehmann, Algorithmic differentiation of linear algebra functions, 2010).
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/linalg/linalg.h"
#include "hotaru/ops/linalg/linalg_grad.h"
#include "hotaru/ops/linalg/matrices.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/shape/triangle.h"
#include "hotaru/ops/sort/sort.h"

namespace hotaru {
namespace {

using autograd::Backward;
using autograd::record;
using autograd::saved_output;

/// The Hermitian matrix whose lower triangle is t's; the diagonal is real.
Tensor hermitian(const Tensor& t) {
  if (!t.is_complex()) return tril(t) + adjoint(tril(t, -1));
  const Tensor half = (tril(t) + tril(t, -1)) * 0.5;
  return half + adjoint(half);
}

/// `gq` may be undefined; R is square, at most as long as Q.
Tensor qr_gradient(const Tensor& Q, const Tensor& R, const Tensor& gq,
                   const Tensor& gr) {
  Tensor inner = gr.defined() ? matmul(R, adjoint(gr)) : Tensor();
  if (gq.defined()) {
    const Tensor of_q = matmul(adjoint(gq), Q);
    inner = inner.defined() ? inner - of_q : -of_q;
  }
  Tensor right = matmul(Q, hermitian(inner));
  if (gq.defined()) right = gq + right;
  return linalg_solve_triangular(adjoint(R), right, false, false);
}

/// Gradient of P^T A = L U with the unit lower L [m, k] and the upper U [k, n].
Tensor lu_gradient(const Tensor& LU, const Tensor& g) {
  const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  const Tensor square = rows(columns(LU, 0, k), 0, k);
  const Tensor L = tril(square, -1) + unit_matrix(LU, k), U = triu(square);
  const Tensor inner = rows(columns(g, 0, k), 0, k);
  Tensor gl = tril(inner, -1), gu = triu(inner), rest;
  if (m > n) {
    const Tensor below = rows(LU, k, m - k);
    rest = linalg_solve_triangular(adjoint(U), rows(g, k, m - k), false, false);
    gu = gu - triu(matmul(adjoint(below), rest));
  } else if (n > m) {
    const Tensor beside = columns(LU, k, n - k);
    rest = linalg_solve_triangular(adjoint(L), columns(g, k, n - k), true, true,
                                   true);
    gl = gl - tril(matmul(rest, adjoint(beside)), -1);
  }
  const Tensor phi =
      tril(matmul(adjoint(L), gl), -1) + triu(matmul(gu, adjoint(U)));
  const Tensor left =
      linalg_solve_triangular(adjoint(L), phi, true, true, true);
  const Tensor out = linalg_solve_triangular(adjoint(U), left, false, false);
  return rest.defined() ? cat({out, rest}, m > n ? -2 : -1) : out;
}

/// L [m, k] and U [k, n] in one matrix, as factorisations give them.
Tensor packed(const Tensor& L, const Tensor& U) {
  const int64_t m = L.size(-2), n = U.size(-1), k = L.size(-1);
  const Tensor square = tril(rows(L, 0, k), -1) + triu(columns(U, 0, k));
  if (m > k) return cat({square, rows(L, k, m - k)}, -2);
  if (n > k) return cat({square, columns(U, k, n - k)}, -1);
  return square;
}

/// The gradient of A from that of its rows in their new order.
Tensor permuted_back(const Tensor& g, const Tensor& order) {
  const Tensor back = unsqueeze(argsort(order), -1);
  return gather(g, -2, expand(back, g.sizes()));
}

}  // namespace

void record_qr(const Tensor& Q, const Tensor& R, const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  record("LinalgQrBackward0", Tensors{Q, R}, {A},
         {saved_output(Q), saved_output(R)},
         [](Backward& b, const Tensors& grads) -> Tensors {
           const Tensor Q = b.saved(0), R = b.saved(1);
           const int64_t k = R.size(-2), n = R.size(-1);
           Tensor gq = grads[0], gr = grads[1];
           if (n == k) return {qr_gradient(Q, R, gq, gr)};
           Tensor rest;
           if (gr.defined()) {
             const Tensor beside = columns(gr, k, n - k);
             rest = matmul(Q, beside);
             const Tensor more =
                 matmul(Q, matmul(columns(R, k, n - k), adjoint(beside)));
             gq = gq.defined() ? gq + more : more;
             gr = columns(gr, 0, k);
           } else {
             rest = matmul(Q, columns(R, k, n - k)) * Scalar(0);
           }
           return {cat({qr_gradient(Q, columns(R, 0, k), gq, gr), rest}, -1)};
         });
}

void record_lu(const Tensor& LU, const Tensor& pivots, const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  const Tensor order = pivots_to_rows(pivots, A.size(-2));
  record("LinalgLuFactorExBackward0", LU, {A}, {saved_output(LU), order},
         [](Backward& b, const Tensor& g) -> Tensors {
           return {permuted_back(lu_gradient(b.saved(0), g), b.saved(1))};
         });
}

void record_triangles(const Tensor& L, const Tensor& U, const Tensor& pivots,
                      const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  const Tensor order = pivots_to_rows(pivots, A.size(-2));
  record("LinalgLuBackward0", Tensors{L, U}, {A},
         {saved_output(L), saved_output(U), order},
         [](Backward& b, const Tensors& grads) -> Tensors {
           const Tensor L = b.saved(0), U = b.saved(1);
           const Tensor g =
               packed(grads[0].defined() ? grads[0] : zeros_like(L),
                      grads[1].defined() ? grads[1] : zeros_like(U));
           return {permuted_back(lu_gradient(packed(L, U), g), b.saved(2))};
         });
}

}  // namespace hotaru
