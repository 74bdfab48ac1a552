// Cholesky's factors, LDL^T, and systems solved with them.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/linalg/linalg.h"
#include "hotaru/ops/linalg/linalg_grad.h"
#include "hotaru/ops/linalg/matrices.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

std::tuple<Tensor, Tensor> cholesky_of(const char* op, const Tensor& A,
                                       bool upper, bool check) {
  static const Kernel& factor = kernel("linalg_cholesky");
  check_matrix(op, A, true);
  const Tensor L = allocate(A.sizes(), A.dtype(), A.device());
  const Tensor info = matrices_like(A, {}, DType::kInt32);
  {
    autograd::NoGrad guard;
    const Tensor a = contiguous(upper ? adjoint(A) : A);
    enqueue(factor, {write(L), write(info), read(a)},
            linalg_attributes(A, op, check));
  }
  // A itself is recorded either way: the gradient is taken to be Hermitian.
  record_cholesky(L, A);
  return {upper ? adjoint(L) : L, info};
}

std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& A, bool upper,
                                              bool check_errors) {
  return cholesky_of("linalg.cholesky_ex", A, upper, check_errors);
}

Tensor old_cholesky(const Tensor& self, bool upper) {
  static constinit OnceWarning deprecated{
      "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will "
      "be removed in a future PyTorch release.\nL = "
      "torch.cholesky(A)\nshould be replaced with\nL = "
      "torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, "
      "upper=True)\nshould be replaced with\nU = "
      "torch.linalg.cholesky(A).mH\nThis transform will produce equivalent "
      "results for all valid (symmetric positive definite) inputs."};
  deprecated.give();
  return std::get<0>(cholesky_of("cholesky", self, upper, true));
}

/// X with L L^H X = B, or U^H U X = B; no gradient. `checked`: see
/// solve_triangular.
Tensor solve_factored(const Tensor& B, const Tensor& factor, bool upper,
                      const char* checked = nullptr) {
  autograd::NoGrad guard;
  const Tensor other = adjoint(factor);
  const Tensor half =
      solve_triangular(upper ? other : factor, B, false, false, checked);
  return solve_triangular(upper ? factor : other, half, true, false);
}

Tensor cholesky_inverse(const Tensor& self, bool upper) {
  check_matrix("cholesky_inverse", self, true);
  const Tensor unit = unit_matrix(self, self.size(-1));
  const Tensor X = solve_factored(expand(unit, self.sizes()), self, upper,
                                  "cholesky_inverse");
  record_cholesky_inverse(X, self, upper);
  return X;
}

std::tuple<Tensor, Tensor, Tensor> ldl_of(const char* op, const Tensor& A,
                                          bool hermitian, bool check) {
  static const Kernel& factor = kernel("linalg_ldl");
  check_matrix("torch.linalg.ldl_factor_ex", A, true);
  const int64_t n = A.size(-1);
  const Tensor LD = allocate(A.sizes(), A.dtype(), A.device());
  const Tensor pivots = matrices_like(A, {n}, DType::kInt32);
  const Tensor info = matrices_like(A, {}, DType::kInt32);
  LinalgAttributes attrs = linalg_attributes(A, op, check);
  attrs.hermitian = hermitian && A.is_complex();
  {
    autograd::NoGrad guard;
    const Tensor a = contiguous(A);
    enqueue(factor, {write(LD), write(pivots), write(info), read(a)}, attrs);
  }
  refuse_gradient("linalg_ldl_factor_ex", LD, {A});
  return {LD, pivots, info};
}

std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& A,
                                                 bool hermitian,
                                                 bool check_errors) {
  return ldl_of("torch.linalg.ldl_factor_ex", A, hermitian, check_errors);
}

std::tuple<Tensor, Tensor> ldl_factor(const Tensor& A, bool hermitian) {
  const auto [LD, pivots, info] =
      ldl_of("torch.linalg.ldl_factor", A, hermitian, true);
  return {LD, pivots};
}

Tensor ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B,
                 bool hermitian) {
  static const Kernel& solve = kernel("linalg_ldl_solve");
  const char* op = "torch.linalg.ldl_solve";
  check_matrix(op, LD, true, "LD");
  check_batch(op, B, "B");
  HOTARU_CHECK(B.size(-2) == LD.size(-2), "Incompatible matrix sizes for ", op,
               ": each A matrix is ", LD.size(-1), " by ", LD.size(-1),
               " but each b matrix is ", B.size(-2), " by ", B.size(-1));
  HOTARU_CHECK(same(pivots.sizes(), LD.sizes().first(size_t(LD.dim() - 1))), op,
               ": Expected LD.shape[:-1] and pivots.shape to be the same, but "
               "got pivots with shape ",
               shape_text(pivots.sizes()), " instead");
  HOTARU_CHECK(is_integral(pivots.dtype()), op,
               ": Expected pivots to be integers. Got ",
               scalar_type_name(pivots.dtype()));
  HOTARU_CHECK(LD.dtype() == B.dtype(), op,
               ": Expected LD and B to have the same dtype, but found LD of "
               "type ",
               scalar_type_name(LD.dtype()), " and B of type ",
               scalar_type_name(B.dtype()), " instead");
  const auto [a, b] = same_batch(LD, B);
  const Tensor X = allocate(b.sizes(), b.dtype(), b.device());
  {
    autograd::NoGrad guard;
    LinalgAttributes attrs = linalg_attributes(a);
    attrs.n = b.size(-1);
    attrs.hermitian = hermitian && a.is_complex();
    const Tensor factors = contiguous(a), right = contiguous(b);
    const Tensor order = contiguous(
        expand(to(pivots, DType::kInt32), with(batch_of(a), {a.size(-1)})));
    enqueue(solve, {write(X), read(factors), read(order), read(right)}, attrs);
  }
  refuse_gradient("linalg_ldl_solve", X, {LD, B});
  return X;
}

}  // namespace

Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper) {
  HOTARU_CHECK(self.dim() >= 2, "b should have at least 2 dimensions, but has ",
               self.dim(), " dimensions instead");
  HOTARU_CHECK(input2.dim() >= 2,
               "u should have at least 2 dimensions, but has ", input2.dim(),
               " dimensions instead");
  HOTARU_CHECK(self.dtype() == input2.dtype(),
               "Expected b and A to have the same dtype, but found b of type ",
               scalar_type_name(self.dtype()), " and A of type ",
               scalar_type_name(input2.dtype()), " instead.");
  HOTARU_CHECK(input2.size(-1) == input2.size(-2),
               "A must be batches of square matrices, but they are ",
               input2.size(-2), " by ", input2.size(-1), " matrices");
  HOTARU_CHECK(input2.size(-1) == self.size(-2),
               "Incompatible matrix sizes for cholesky_solve: each A matrix "
               "is ",
               input2.size(-1), " by ", input2.size(-1),
               " but each b matrix is ", self.size(-2), " by ", self.size(-1));
  const auto [B, factor] = same_batch(self, input2);
  const Tensor X = solve_factored(B, factor, upper);
  record_cholesky_solve(X, B, factor, upper);
  return X;
}

Tensor linalg_cholesky(const Tensor& A, bool upper) {
  return std::get<0>(cholesky_of("linalg.cholesky", A, upper, true));
}

HOTARU_OP("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
          linalg_cholesky);
HOTARU_OP(
    "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool "
    "check_errors=False) -> (Tensor L, Tensor info)",
    linalg_cholesky_ex);
HOTARU_OP("cholesky(Tensor self, bool upper=False) -> Tensor", old_cholesky);
HOTARU_OP(
    "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    cholesky_solve);
HOTARU_OP("cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
          cholesky_inverse);
HOTARU_OP(
    "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool "
    "check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)",
    ldl_factor_ex);
HOTARU_OP(
    "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, "
    "Tensor pivots)",
    ldl_factor);
HOTARU_OP(
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool "
    "hermitian=False) -> Tensor",
    ldl_solve);

}  // namespace hotaru
