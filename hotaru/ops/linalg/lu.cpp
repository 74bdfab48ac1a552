// LU factors, what is solved with them, and determinants.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/linalg/linalg.h"
#include "hotaru/ops/linalg/linalg_grad.h"
#include "hotaru/ops/linalg/matrices.h"
#include "hotaru/ops/shape/triangle.h"
#include "hotaru/ops/sort/sort.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

struct Determinant {
  Tensor value, sign, logabs;
};

Determinant determinant(const char* op, const Tensor& A) {
  static const Kernel& kernel_ = kernel("linalg_determinant");
  check_matrix(op, A, true);
  autograd::NoGrad guard;
  const Determinant out{matrices_like(A, {}), matrices_like(A, {}),
                        matrices_like(A, {}, to_real(A.dtype()))};
  const Tensor a = contiguous(A);
  enqueue(kernel_,
          {write(out.value), write(out.sign), write(out.logabs), read(a)},
          linalg_attributes(A));
  return out;
}

std::tuple<Tensor, Tensor, Tensor> lu_of(const char* name, const Tensor& A,
                                         bool pivot, bool check) {
  static const Kernel& factor = kernel("linalg_lu");
  check_matrix("torch.linalg.lu_factor", A, false);
  HOTARU_CHECK(pivot || A.device().type != DeviceType::kCPU,
               "linalg.lu_factor: LU without pivoting is not implemented on "
               "the CPU");
  LinalgAttributes attrs = linalg_attributes(A, name, check);
  attrs.pivot = pivot;
  const Tensor LU = allocate(A.sizes(), A.dtype(), A.device());
  const Tensor pivots = matrices_like(A, {attrs.k}, DType::kInt32);
  const Tensor info = matrices_like(A, {}, DType::kInt32);
  {
    autograd::NoGrad guard;
    const Tensor a = contiguous(A);
    enqueue(factor, {write(LU), write(pivots), write(info), read(a)}, attrs);
  }
  return {LU, pivots, info};
}

std::tuple<Tensor, Tensor> lu_factor(const Tensor& A, bool pivot) {
  const auto [LU, pivots, info] =
      lu_of("torch.linalg.lu_factor", A, pivot, true);
  record_lu(LU, pivots, A);
  return {LU, pivots};
}

Tensor nothing(const Tensor& like) {
  return allocate(Dims{0}, like.dtype(), like.device());
}

/// L [m, k], U [k, n].
std::pair<Tensor, Tensor> triangles(const Tensor& LU) {
  const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  const Tensor diagonal = eye(m, k, TensorOptions(LU));
  return {tril(columns(LU, 0, k), -1) + diagonal, triu(rows(LU, 0, k))};
}

/// P with A = P L U.
Tensor permutation_matrix(const Tensor& LU, const Tensor& pivots) {
  autograd::NoGrad guard;
  const int64_t m = LU.size(-2);
  const Tensor order = pivots_to_rows(pivots, m);
  const Tensor all = arange(0, m, 1, {DType::kInt64, LU.device()});
  return to(eq(unsqueeze(order, -2), unsqueeze(all, -1)), LU.dtype());
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot) {
  check_matrix("linalg.lu", A, false);
  const auto [LU, pivots, info] = lu_of("linalg.lu", A, pivot, false);
  const auto [L, U] = triangles(LU);
  record_triangles(L, U, pivots, A);
  return {pivot ? permutation_matrix(LU, pivots) : nothing(A), L, U};
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU,
                                             const Tensor& pivots,
                                             bool unpack_data,
                                             bool unpack_pivots) {
  HOTARU_CHECK(LU.dim() >= 2,
               "torch.lu_unpack: Expected tensor with 2 or more dimensions. "
               "Got size: ",
               shape_text(LU.sizes()), " instead");
  HOTARU_CHECK(
      !unpack_pivots || pivots.dtype() == DType::kInt32,
      "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of "
      "torch.int32 dtype.\nNote: this function is intended to be used with the "
      "output produced by torch.linalg.lu_factor");
  HOTARU_CHECK(
      !unpack_pivots || (pivots.dim() >= 1 && pivots.size(-1) <= LU.size(-2)),
      "torch.lu_unpack: LU_pivots should have at most as many elements as LU "
      "has rows, ",
      LU.size(-2), ", in its last dimension, but its shape is ",
      shape_text(pivots.sizes()));
  std::pair<Tensor, Tensor> parts{nothing(LU), nothing(LU)};
  if (unpack_data) parts = triangles(LU);
  return {unpack_pivots ? permutation_matrix(LU, pivots) : nothing(LU),
          parts.first, parts.second};
}

/// Rows of t in the order, batches of both broadcast.
Tensor ordered(const Tensor& t, const Tensor& order) {
  const Dims batch = broadcast_shapes(
      batch_of(t), order.sizes().first(size_t(order.dim() - 1)));
  const Dims sizes = with(batch, {t.size(-2), t.size(-1)});
  return gather(expand(t, sizes), -2, expand(unsqueeze(order, -1), sizes));
}

}  // namespace

Tensor pivots_to_rows(const Tensor& pivots, int64_t rows, bool solving) {
  static const Kernel& kernel_ = kernel("linalg_permutation");
  autograd::NoGrad guard;
  const IntSpan batch = pivots.sizes().first(size_t(pivots.dim() - 1));
  const Tensor out =
      allocate(with(batch, {rows}), DType::kInt64, pivots.device());
  LinalgAttributes attrs;
  attrs.batch = numel_of(batch);
  attrs.m = rows;
  attrs.k = pivots.size(-1);
  attrs.inverse = solving;
  const Tensor dense = contiguous(pivots);
  enqueue(kernel_, {write(out), read(dense)}, attrs);
  return out;
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A,
                                                       bool pivot,
                                                       bool check_errors) {
  const auto out = lu_of("torch.linalg.lu_factor_ex", A, pivot, check_errors);
  record_lu(std::get<0>(out), std::get<1>(out), A);
  return out;
}

Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B,
                       bool left, bool adjoint) {
  const char* op = "linalg.lu_solve";
  check_matrix(op, LU, true, "LU");
  HOTARU_CHECK(pivots.dtype() == DType::kInt32, op,
               ": pivots should be a Tensor of scalar type torch.int32");
  HOTARU_CHECK(LU.size(-1) == pivots.size(-1), op,
               ": Number of pivots per batch should be same as the dimension "
               "of the matrix");
  HOTARU_CHECK(same(pivots.sizes(), LU.sizes().first(size_t(LU.dim() - 1))), op,
               ": Expected LU.shape[:-1] and pivots.shape to be the same, but "
               "got pivots with shape ",
               shape_text(pivots.sizes()), " instead");
  HOTARU_CHECK(LU.dtype() == B.dtype(), op,
               ": Expected LU and B to have the same dtype, but found LU of "
               "type ",
               scalar_type_name(LU.dtype()), " and B of type ",
               scalar_type_name(B.dtype()), " instead");
  check_system(op, LU, B, left);
  if (!left)  // X A = B is A^H X^H = B^H
    return hotaru::adjoint(
        linalg_lu_solve(LU, pivots, hotaru::adjoint(B), true, !adjoint));
  const Tensor order = pivots_to_rows(pivots, LU.size(-1), true);
  if (adjoint) {
    const Tensor turned = hotaru::adjoint(LU);
    const Tensor half = linalg_solve_triangular(turned, B, false);
    const Tensor X = linalg_solve_triangular(turned, half, true, true, true);
    return ordered(X, argsort(order));
  }
  const Tensor half =
      linalg_solve_triangular(LU, ordered(B, order), false, true, true);
  return linalg_solve_triangular(LU, half, true);
}

Tensor linalg_det(const Tensor& A) {
  const Tensor out = determinant("linalg.det", A).value;
  record_determinant(out, A);
  return out;
}

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) {
  const Determinant d = determinant("linalg.slogdet", A);
  record_slogdet(d.sign, d.logabs, A);
  return {d.sign, d.logabs};
}

namespace {

Tensor logdet(const Tensor& A) {
  check_matrix("logdet", A, true);
  const auto [sign, logabs] = linalg_slogdet(A);
  if (A.is_complex()) return log(sign) + logabs;
  return masked_fill(logabs, eq(sign, -1),
                     std::numeric_limits<double>::quiet_NaN());
}

Tensor old_lu_solve(const Tensor& self, const Tensor& LU,
                    const Tensor& pivots) {
  static constinit OnceWarning deprecated{
      "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will "
      "be removed in a future PyTorch release.\nNote that "
      "torch.linalg.lu_solve has its arguments reversed.\nX = "
      "torch.lu_solve(B, LU, pivots)\nshould be replaced with\nX = "
      "torch.linalg.lu_solve(LU, pivots, B)"};
  deprecated.give();
  return linalg_lu_solve(LU, pivots, self);
}

}  // namespace

HOTARU_OP("linalg_det(Tensor A) -> Tensor", linalg_det);
HOTARU_OP("det(Tensor self) -> Tensor", linalg_det);
HOTARU_OP("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
          linalg_slogdet);
HOTARU_OP("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
          linalg_slogdet);
HOTARU_OP("logdet(Tensor self) -> Tensor", logdet);
HOTARU_OP(
    "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    linalg_lu);
HOTARU_OP(
    "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor "
    "pivots)",
    lu_factor);
HOTARU_OP(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool "
    "check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)",
    linalg_lu_factor_ex);
HOTARU_OP(
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, "
    "bool adjoint=False) -> Tensor",
    linalg_lu_solve);
HOTARU_OP("lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
          old_lu_solve);
HOTARU_OP(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool "
    "unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
    lu_unpack);

}  // namespace hotaru
