// Gradients of singular values, eigenvalues and what is made of them.
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/linalg/linalg.h"
#include "hotaru/ops/linalg/linalg_grad.h"
#include "hotaru/ops/linalg/matrices.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/shape/triangle.h"

namespace hotaru {
namespace {

using autograd::Backward;
using autograd::record;
using autograd::saved_output;

/// x[k] - x[j] at [j, k], and 1 on the diagonal.
Tensor differences(const Tensor& x) {
  return per_column(x) - per_row(x) + unit_matrix(x, x.size(-1));
}

Tensor skew(const Tensor& t) {
  return t - adjoint(t);
}

void add(Tensor& sum, const Tensor& term) {
  sum = sum.defined() ? sum + term : term;
}

Tensor without_diagonal(const Tensor& t) {
  return t * (1 - unit_matrix(t, t.size(-1)));
}

/// J. Townsend, Differentiating the singular value decomposition, 2016; the
/// phases of complex vectors as in Z. Wan and S. Zhang, Automatic
/// differentiation for complex valued SVD, 2019.
Tensor svd_gradient(const Tensor& U, const Tensor& S, const Tensor& Vh,
                    const Tensor& gu, const Tensor& gs, const Tensor& gvh) {
  const int64_t k = S.size(-1);
  const Tensor s = U.is_complex() ? to(S, U.dtype()) : S;
  if (!gu.defined() && !gvh.defined())
    return matmul(U * per_column(to(gs, U.dtype())), Vh);
  const Tensor squares = differences(S * S);
  Tensor inner;
  if (gu.defined()) {
    const Tensor turn = skew(matmul(adjoint(U), gu));
    inner = turn / squares * per_column(s);
    if (U.is_complex())
      inner = without_diagonal(inner) +
              diag_embed(diagonal(turn, 0, -2, -1) / (s * 2));
  }
  if (gvh.defined())
    add(inner, without_diagonal(per_row(s) *
                                (skew(matmul(Vh, adjoint(gvh))) / squares)));
  if (gs.defined()) add(inner, diag_embed(to(gs, U.dtype())));
  Tensor out;
  if (gu.defined() && U.size(-2) > k) {
    const Tensor outside = (gu - matmul(U, matmul(adjoint(U), gu)));
    out = matmul(matmul(U, inner) + outside / per_column(s), Vh);
  } else {
    out = matmul(matmul(U, inner), Vh);
  }
  if (gvh.defined() && Vh.size(-1) > k) {
    const Tensor outside = gvh - matmul(matmul(gvh, adjoint(Vh)), Vh);
    out = out + matmul(U, outside / per_row(s));
  }
  return out;
}

/// V^-H (conj(F) o V^H gv + diag(gl)) V^H; F holds 1 / (L[k] - L[j]).
Tensor inner_gradient(const Tensor& L, const Tensor& VhgV, const Tensor& gl) {
  Tensor inner;
  if (VhgV.defined()) inner = without_diagonal(VhgV / conj(differences(L)));
  if (gl.defined()) add(inner, diag_embed(to(gl, gl.dtype())));
  return inner;
}

/// G. Golub and V. Pereyra, The differentiation of pseudo-inverses and
/// nonlinear least squares problems whose variables separate, 1973.
Tensor pinv_gradient(const Tensor& g, const Tensor& A, const Tensor& P) {
  const Tensor ph = adjoint(P), gh = adjoint(g);
  const Tensor left = matmul(matmul(gh, P), ph);
  const Tensor right = matmul(ph, matmul(P, gh));
  return left - matmul(A, matmul(P, left)) + right -
         matmul(matmul(right, P), A) - matmul(ph, matmul(g, ph));
}

}  // namespace

void record_svd(const Tensor& U, const Tensor& S, const Tensor& Vh,
                const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  record("LinalgSvdBackward0", Tensors{U, S, Vh}, {A},
         {saved_output(U), saved_output(S), saved_output(Vh)},
         [](Backward& b, const Tensors& grads) -> Tensors {
           const Tensor S = b.saved(1);
           const int64_t k = S.size(-1);
           const auto first = [&](const Tensor& t, int64_t dim) {
             return t.defined() ? narrow(t, dim, 0, k) : t;
           };
           return {svd_gradient(first(b.saved(0), -1), S, first(b.saved(2), -2),
                                first(grads[0], -1), grads[1],
                                first(grads[2], -2))};
         });
}

void record_eigh(const Tensor& L, const Tensor& V, const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  record(
      "LinalgEighBackward0", Tensors{L, V}, {A},
      {saved_output(L), saved_output(V)},
      [](Backward& b, const Tensors& grads) -> Tensors {
        const Tensor L = b.saved(0), V = b.saved(1), gv = grads[1];
        if (!gv.defined())
          return {matmul(V * per_column(to(grads[0], V.dtype())), adjoint(V))};
        const Tensor turn = skew(matmul(adjoint(V), gv)) * 0.5;
        const Tensor gl =
            grads[0].defined() ? to(grads[0], V.dtype()) : Tensor();
        const Tensor inner = inner_gradient(L, turn, gl);
        return {matmul(V, matmul(inner, adjoint(V)))};
      });
}

void record_eig(const Tensor& L, const Tensor& V, const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  // C. Boeddeker et al., On the computation of complex-valued gradients with
  // application to statistically optimum beamforming, 2017; vectors have
  // length 1.
  record(
      "LinalgEigBackward0", Tensors{L, V}, {A},
      {saved_output(L), saved_output(V), A},
      [](Backward& b, const Tensors& grads) -> Tensors {
        const Tensor L = b.saved(0), V = b.saved(1), gv = grads[1];
        Tensor turn;
        if (gv.defined()) {
          turn = matmul(adjoint(V), gv);
          const Tensor along = to(real(diagonal(turn, 0, -2, -1)), V.dtype());
          turn = turn - matmul(adjoint(V), V * per_column(along));
        }
        const Tensor inner = inner_gradient(L, turn, grads[0]);
        const Tensor out = linalg_solve(adjoint(V), matmul(inner, adjoint(V)));
        return {b.saved(2).is_complex() ? out : real(out)};
      });
}

void record_pinv(const Tensor& out, const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  record("LinalgPinvBackward0", out, {A}, {A, saved_output(out)},
         [](Backward& b, const Tensor& g) -> Tensors {
           return {pinv_gradient(g, b.saved(0), b.saved(1))};
         });
}

void record_lstsq(const Tensor& X, const Tensor& residuals, const Tensor& A,
                  const Tensor& B, const Tensor& rtol) {
  if (!autograd::needs_grad(A, B)) return;
  record("LinalgLstsqBackward0", Tensors{X, residuals}, {A, B}, {A, B, rtol},
         [](Backward& b, const Tensors& grads) -> Tensors {
           const Tensor A = b.saved(0), B = b.saved(1);
           const Tensor P = linalg_pinv(A, {}, b.saved(2));
           Tensor ga, gb;
           if (grads[0].defined()) {
             ga = pinv_gradient(matmul(grads[0], adjoint(B)), A, P);
             gb = matmul(adjoint(P), grads[0]);
           }
           // X makes the residuals least, so they do not change with it.
           if (grads[1].defined() && grads[1].numel() > 0) {
             const Tensor X = matmul(P, B);
             const Tensor g =
                 (matmul(A, X) - B) * per_column(grads[1] * Scalar(2));
             add(ga, matmul(g, adjoint(X)));
             add(gb, -g);
           }
           if (!ga.defined()) return {zeros_like(A), zeros_like(B)};
           return {ga, gb};
         });
}

void record_matrix_exp(const Tensor& out, const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  // The upper right block of e^[[A^H, g], [0, A^H]] (R. Mathias, A chain rule
  // for matrix functions and applications, 1996).
  record("LinalgMatrixExpBackward0", out, {A}, {A},
         [](Backward& b, const Tensor& g) -> Tensors {
           const Tensor ah = adjoint(b.saved(0));
           const int64_t n = ah.size(-1);
           const Tensor blocks =
               cat({cat({ah, g}, -1), cat({zeros_like(ah), ah}, -1)}, -2);
           return {columns(rows(linalg_matrix_exp(blocks), 0, n), n, n)};
         });
}

}  // namespace hotaru
