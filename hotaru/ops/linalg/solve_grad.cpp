#include "hotaru/graph/capture/capture.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/linalg/linalg.h"
#include "hotaru/ops/linalg/linalg_grad.h"
#include "hotaru/ops/linalg/matrices.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/reduce_grad.h"
#include "hotaru/ops/shape/triangle.h"

namespace hotaru {

using autograd::Backward;
using autograd::record;
using autograd::saved_output;

namespace {

/// Size of matrices up to which cofactors are determinants of their minors,
/// whose own derivatives are right wherever they are taken.
constexpr int64_t kMostMinors = 16;

/// Conjugates of a matrix's cofactors, the gradient of its determinant, for
/// any matrix. Of large ones by singular values, as in PyTorch, which have
/// derivatives where no two are equal.
Tensor conj_cofactors(const Tensor& A) {
  const int64_t n = A.size(-1);
  if (n > kMostMinors) {
    const auto [U, S, Vh] = linalg_svd(A);
    const Tensor turn = conj(linalg_det(U) * linalg_det(Vh));
    const Tensor others = grad::product_of_others(S, S.dim() - 1);
    return per_matrix(turn) * matmul(U * per_column(others), Vh);
  }
  // Row i of `others`: all indices but i.
  std::vector<int64_t> others, signs;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      if (i != j) others.push_back(j);
      signs.push_back((i + j) % 2 ? -1 : 1);
    }
  const Tensor kept = integers_on(others, A.device());
  const IntSpan batch = batch_of(A);
  const Tensor rows =
      view(index_select(A, -2, kept), with(batch, {n, n - 1, n}));
  const Tensor both =
      view(index_select(rows, -1, kept), with(batch, {n, n - 1, n, n - 1}));
  const Tensor sign = view(integers_on(signs, A.device()), Dims{n, n});
  return conj(linalg_det(transpose(both, -3, -2)) * to(sign, A.dtype()));
}

/// Tells whether an element may be true: a graph may be replayed for others,
/// and meta tensors have none to look at.
bool any_of(const Tensor& condition) {
  if (graph::capturing() || condition.device().type == DeviceType::kMeta)
    return true;
  return host_value(any(condition), "the gradient of a determinant")
             .to_double() != 0;
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
           const Tensor A = b.saved(0), det = b.saved(1);
           if (A.size(-1) == 1) return {per_matrix(g) * ones_like(A)};
           const Tensor singular = per_matrix(eq(det, 0));
           const Tensor unit = unit_matrix(A, A.size(-1));
           const Tensor regular = where(singular, unit, A);
           Tensor cofactors =
               per_matrix(conj(det)) * adjoint(linalg_inv(regular));
           if (any_of(singular))
             cofactors = where(singular, conj_cofactors(A), cofactors);
           return {per_matrix(g) * cofactors};
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
           const Tensor inverse = std::get<0>(linalg_inv_ex(A, false));
           return {per_matrix(g) * adjoint(inverse)};
         });
}

void record_solve(const Tensor& out, const Tensor& A, const Tensor& B) {
  if (!autograd::needs_grad(A, B)) return;
  record(
      "LinalgSolveExBackward0", out, {A, B}, {A, saved_output(out)},
      [](Backward& b, const Tensor& g) -> Tensors {
        const Tensor gb = std::get<0>(linalg_solve_ex(adjoint(b.saved(0)), g));
        return {b.needs(0) ? -matmul(gb, adjoint(b.saved(1))) : Tensor(), gb};
      });
}

void record_triangular(const Tensor& out, const Tensor& A, const Tensor& B,
                       bool upper, bool unit) {
  if (!autograd::needs_grad(A, B)) return;
  record("LinalgSolveTriangularBackward0", out, {A, B}, {A, saved_output(out)},
         [upper, unit](Backward& b, const Tensor& g) -> Tensors {
           const Tensor gb = linalg_solve_triangular(adjoint(b.saved(0)), g,
                                                     !upper, true, unit);
           if (!b.needs(0)) return {Tensor(), gb};
           const Tensor ga = -matmul(gb, adjoint(b.saved(1)));
           const int64_t off = unit ? 1 : 0;
           return {upper ? triu(ga, off) : tril(ga, -off), gb};
         });
}

void record_cholesky(const Tensor& out, const Tensor& A) {
  if (!autograd::needs_grad(A)) return;
  record("LinalgCholeskyExBackward0", out, {A}, {saved_output(out)},
         [](Backward& b, const Tensor& g) -> Tensors {
           // The Hermitian half of what L takes in, between L^-H and L^-1 (I.
           // Murray, Differentiation of the Cholesky decomposition, 2016).
           const Tensor L = b.saved(0);
           const Tensor product = tril(matmul(adjoint(L), tril(g)));
           const Tensor inner = (product + adjoint(tril(product, -1))) * 0.5;
           const Tensor left = linalg_solve_triangular(adjoint(L), inner, true);
           return {linalg_solve_triangular(L, left, false, false)};
         });
}

namespace {

/// The triangle of a factor that is read.
Tensor triangle(const Tensor& factor, bool upper) {
  return upper ? triu(factor) : tril(factor);
}

/// The gradient of a factor from that of its matrix's inverse, half of it.
Tensor factor_gradient(const Tensor& half, const Tensor& factor, bool upper) {
  const Tensor both = half + adjoint(half), read = triangle(factor, upper);
  return triangle(upper ? -matmul(read, both) : -matmul(both, read), upper);
}

}  // namespace

void record_cholesky_solve(const Tensor& out, const Tensor& B,
                           const Tensor& factor, bool upper) {
  if (!autograd::needs_grad(B, factor)) return;
  record("CholeskySolveBackward0", out, {B, factor},
         {factor, saved_output(out)},
         [upper](Backward& b, const Tensor& g) -> Tensors {
           const Tensor factor = b.saved(0);
           const Tensor gb = cholesky_solve(g, factor, upper);
           if (!b.needs(1)) return {gb, Tensor()};
           const Tensor half = matmul(gb, adjoint(b.saved(1)));
           return {gb, factor_gradient(half, factor, upper)};
         });
}

void record_cholesky_inverse(const Tensor& out, const Tensor& factor,
                             bool upper) {
  if (!autograd::needs_grad(factor)) return;
  record("CholeskyInverseBackward0", out, {factor}, {factor, saved_output(out)},
         [upper](Backward& b, const Tensor& g) -> Tensors {
           const Tensor inverse = b.saved(1);
           const Tensor half = matmul(inverse, matmul(g, inverse));
           return {factor_gradient(half, b.saved(0), upper)};
         });
}

}  // namespace hotaru
