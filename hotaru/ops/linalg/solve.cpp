// Systems of equations and inverses.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/linalg/linalg.h"
#include "hotaru/ops/linalg/linalg_grad.h"
#include "hotaru/ops/linalg/matrices.h"
#include "hotaru/ops/shape/triangle.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

/// Solves for matrices B of A's batch; no gradient.
std::tuple<Tensor, Tensor> solve_matrices(const Tensor& A, const Tensor& B,
                                          const char* name, bool check,
                                          bool inverse) {
  static const Kernel& solve = kernel("linalg_solve");
  autograd::NoGrad guard;
  LinalgAttributes attrs = linalg_attributes(A, name, check);
  attrs.n = B.size(-1);
  attrs.inverse = inverse;
  const Tensor X = allocate(B.sizes(), B.dtype(), B.device());
  const Tensor info = matrices_like(A, {}, DType::kInt32);
  const Tensor a = contiguous(A), b = contiguous(B);
  enqueue(solve, {write(X), write(info), read(a), read(b)}, attrs);
  return {X, info};
}

std::tuple<Tensor, Tensor> inverse_of(const char* op, const Tensor& A,
                                      bool check) {
  check_matrix(op, A, true);
  HOTARU_CHECK(itemsize(A.dtype()) > 2, op,
               ": Low precision dtypes not supported. Got ",
               scalar_type_name(A.dtype()));
  Tensor unit;
  {
    autograd::NoGrad guard;
    unit = expand(unit_matrix(A, A.size(-1)), A.sizes());
  }
  auto out = solve_matrices(A, unit, op, check, true);
  record_inverse(std::get<0>(out), A);
  return out;
}

/// True if B is a vector, or a batch of them as long as A's.
bool is_vector(const Tensor& A, const Tensor& B) {
  return B.dim() == 1 ||
         (B.dim() == A.dim() - 1 &&
          same(B.sizes(), A.sizes().first(size_t(A.dim() - 1))));
}

std::tuple<Tensor, Tensor> solve_ex(const char* op, const char* failing,
                                    const Tensor& A, const Tensor& B, bool left,
                                    bool check) {
  check_matrix(op, A, true);
  const bool vector = is_vector(A, B);
  HOTARU_CHECK(left || !vector, op,
               ": Vector broadcasting of the left hand side is not supported "
               "for left=False. In this case linalg.solve is equivalent to B / "
               "A.squeeze(-1)");
  const Tensor matrices = vector ? unsqueeze(B, -1) : B;
  check_system(op, A, matrices, left);
  if (!left) {
    auto [X, info] =
        solve_ex(op, failing, transposed(A), transposed(B), true, check);
    return {transposed(X), info};
  }
  const auto [a, b] = same_batch(A, matrices);
  const auto [X, info] = solve_matrices(a, b, failing, check, false);
  record_solve(X, a, b);
  return {vector ? squeeze(X, -1) : X, info};
}

}  // namespace

Tensor linalg_inv(const Tensor& A) {
  return std::get<0>(inverse_of("linalg.inv", A, true));
}

std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors) {
  return inverse_of("linalg.inv_ex", A, check_errors);
}

std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B,
                                           bool left, bool check_errors) {
  return solve_ex("linalg.solve", "torch.linalg.solve_ex", A, B, left,
                  check_errors);
}

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  return std::get<0>(
      solve_ex("linalg.solve", "torch.linalg.solve", A, B, left, true));
}

Tensor solve_triangular(const Tensor& A, const Tensor& B, bool upper,
                        bool unitriangular, const char* checked) {
  static const Kernel& kernel_ = kernel("linalg_triangular");
  autograd::NoGrad guard;
  const Tensor X = allocate(B.sizes(), B.dtype(), B.device());
  LinalgAttributes attrs =
      linalg_attributes(A, checked ? checked : "", checked != nullptr);
  attrs.n = B.size(-1);
  attrs.upper = upper;
  attrs.unit = unitriangular;
  const Tensor dense = contiguous(A), right = contiguous(B);
  enqueue(kernel_, {write(X), read(dense), read(right)}, attrs);
  return X;
}

Tensor linalg_solve_triangular(const Tensor& A, const Tensor& B, bool upper,
                               bool left, bool unitriangular) {
  const char* op = "linalg.solve_triangular";
  check_matrix(op, A, true);
  check_system(op, A, B, left);
  if (!left)
    return transposed(linalg_solve_triangular(transposed(A), transposed(B),
                                              !upper, true, unitriangular));
  const auto [a, b] = same_batch(A, B);
  const Tensor X = solve_triangular(a, b, upper, unitriangular);
  record_triangular(X, a, b, upper, unitriangular);
  return X;
}

namespace {

std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A,
                                            bool upper, bool transpose,
                                            bool unitriangular) {
  static constinit OnceWarning deprecated{
      "torch.triangular_solve is deprecated in favor of "
      "torch.linalg.solve_triangularand will be removed in a future PyTorch "
      "release.\ntorch.linalg.solve_triangular has its arguments reversed and "
      "does not return a copy of one of the inputs.\nX = "
      "torch.triangular_solve(B, A).solution\nshould be replaced with\nX = "
      "torch.linalg.solve_triangular(A, B)."};
  deprecated.give();
  HOTARU_CHECK(self.dim() >= 2,
               "torch.triangular_solve: Expected b to have at least 2 "
               "dimensions, but it has ",
               self.dim(), " dimensions instead");
  HOTARU_CHECK(A.dim() >= 2,
               "torch.triangular_solve: Expected A to have at least 2 "
               "dimensions, but it has ",
               A.dim(), " dimensions instead");
  HOTARU_CHECK(A.size(-1) != A.size(-2) || A.size(-1) == self.size(-2),
               "Incompatible matrix sizes for triangular_solve: each A matrix "
               "is ",
               A.size(-2), " by ", A.size(-1), " but each b matrix is ",
               self.size(-2), " by ", self.size(-1));
  const Tensor turned = transpose ? transposed(A) : A;
  const Tensor X = linalg_solve_triangular(turned, self, upper != transpose,
                                           true, unitriangular);
  return {X, clone(same_batch(A, self).first)};
}

/// A's dimensions from `begin` to `end`, multiplied.
int64_t count(const Tensor& A, int64_t begin, int64_t end) {
  return numel_of(A.sizes().subspan(size_t(begin), size_t(end - begin)));
}

Tensor tensorinv(const Tensor& A, int64_t ind) {
  HOTARU_CHECK(ind > 0,
               "Expected a strictly positive integer for 'ind', but got ", ind);
  const int64_t at = std::min(ind, A.dim());
  const int64_t first = count(A, 0, at), rest = count(A, at, A.dim());
  HOTARU_CHECK(first == rest,
               "Expected self to satisfy the requirement prod(self.shape[ind:])"
               " == prod(self.shape[:ind]), but got ",
               rest, " != ", first);
  Dims sizes(A.sizes().subspan(size_t(at)));
  for (int64_t s : A.sizes().first(size_t(at))) sizes.push_back(s);
  return reshape(linalg_inv(reshape(A, Dims{rest, first})), sizes);
}

Tensor tensorsolve(const Tensor& A, const Tensor& B, Optional<IntSpan> dims) {
  Tensor moved = A;
  if (dims) {
    Dims to(*dims);
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = A.dim() - int64_t(to.size()) + int64_t(i);
    moved = movedim(A, *dims, to);
  }
  const int64_t at = std::min(B.dim(), moved.dim());
  const int64_t first = count(moved, 0, at);
  const int64_t rest = count(moved, at, moved.dim());
  HOTARU_CHECK(first == rest,
               "Expected self to satisfy the requirement prod(self.shape[other."
               "ndim:]) == prod(self.shape[:other.ndim]), but got ",
               rest, " != ", first);
  const Tensor X = linalg_solve(reshape(moved, Dims{first, rest}),
                                reshape(B, Dims{B.numel()}));
  return reshape(X, moved.sizes().subspan(size_t(at)));
}

}  // namespace

HOTARU_OP("linalg_inv(Tensor A) -> Tensor", linalg_inv);
HOTARU_OP("inverse(Tensor self) -> Tensor", linalg_inv);
HOTARU_OP(
    "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, "
    "Tensor info)",
    linalg_inv_ex);
HOTARU_OP("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
          linalg_solve);
HOTARU_OP(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool "
    "check_errors=False) -> (Tensor result, Tensor info)",
    linalg_solve_ex);
HOTARU_OP(
    "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool "
    "left=True, bool unitriangular=False) -> Tensor",
    linalg_solve_triangular);
HOTARU_OP(
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool "
    "transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor "
    "cloned_coefficient)",
    triangular_solve);
HOTARU_OP("linalg_tensorinv(Tensor self, int ind=2) -> Tensor", tensorinv);
HOTARU_OP(
    "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
    tensorsolve);

}  // namespace hotaru
