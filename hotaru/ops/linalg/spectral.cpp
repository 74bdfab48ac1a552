// Singular values and eigenvalues.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/linalg/linalg.h"
#include "hotaru/ops/linalg/linalg_grad.h"
#include "hotaru/ops/linalg/matrices.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

struct Svd {
  Tensor U, S, Vh;
};

/// No gradient; U and Vh are undefined unless asked for.
Svd run_svd(const char* op, const Tensor& A, bool full, bool vectors) {
  static const Kernel& factor = kernel("linalg_svd");
  check_matrix(op, A, false);
  autograd::NoGrad guard;
  LinalgAttributes attrs = linalg_attributes(A, op);
  const int64_t least = attrs.k;
  Svd out;
  out.S = matrices_like(A, {least}, to_real(A.dtype()));
  attrs.k = full ? attrs.m : least;
  if (vectors) {
    out.U = matrices_like(A, {attrs.m, attrs.k});
    out.Vh = matrices_like(A, {full ? attrs.n : least, attrs.n});
  }
  const Tensor a = contiguous(A);
  enqueue(factor, {write(out.S), write(out.U), write(out.Vh), read(a)}, attrs);
  return out;
}

struct Eigen {
  Tensor values, vectors;
};

Eigen run_eigen(const Kernel& kernel, const char* op, const Tensor& A,
                DType values, DType vectors, bool want_vectors) {
  autograd::NoGrad guard;
  const Tensor a = contiguous(A);
  const int64_t n = A.size(-1);
  const Eigen out{matrices_like(A, {n}, values),
                  want_vectors ? matrices_like(A, {n, n}, vectors) : Tensor()};
  enqueue(kernel, {write(out.values), write(out.vectors), read(a)},
          linalg_attributes(A, op));
  return out;
}

Eigen eigh(const Tensor& A, const std::string& uplo, bool vectors) {
  static const Kernel& solve = kernel("linalg_eigh");
  const char* op = vectors ? "linalg.eigh" : "linalg.eigvalsh";
  check_matrix("linalg.eigh", A, true);
  const char triangle = uplo.size() == 1 ? uplo[0] : ' ';
  HOTARU_CHECK(
      triangle == 'L' || triangle == 'l' || triangle == 'U' || triangle == 'u',
      "Expected UPLO argument to be 'L' or 'U', but got ", uplo);
  Tensor lower = A;
  if (triangle == 'U' || triangle == 'u') {
    autograd::NoGrad guard;
    lower = adjoint(A);
  }
  const bool grad = autograd::needs_grad(A);
  Eigen out = run_eigen(solve, op, lower, to_real(A.dtype()), A.dtype(),
                        vectors || grad);
  if (grad) record_eigh(out.values, out.vectors, A);
  return out;
}

Eigen eig(const Tensor& A, bool vectors) {
  static const Kernel& solve = kernel("linalg_eig");
  const char* op = vectors ? "torch.linalg.eig" : "torch.linalg.eigvals";
  check_matrix(vectors ? "linalg.eig" : "linalg.eigvals", A, true);
  const bool grad = autograd::needs_grad(A);
  const DType dtype = to_complex(A.dtype());
  Eigen out = run_eigen(solve, op, A, dtype, dtype, vectors || grad);
  if (grad) record_eig(out.values, out.vectors, A);
  return out;
}

Tensor eigvals(const Tensor& A) {
  return eig(A, false).values;
}

/// The driver chooses between cuSOLVER's algorithms.
void check_driver(const char* op, const Tensor& A,
                  const Optional<std::string>& driver) {
  HOTARU_CHECK(!driver || A.device().type == DeviceType::kCUDA, op,
               ": keyword argument `driver=` is only supported on CUDA inputs "
               "with cuSOLVER backend.");
}

std::tuple<Tensor, Tensor, Tensor> old_svd(const Tensor& self, bool some,
                                           bool compute_uv) {
  check_batch("linalg.svd", self);
  if (compute_uv) {
    const auto [U, S, Vh] = linalg_svd(self, !some);
    return {U, S, adjoint(Vh)};
  }
  const int64_t m = self.size(-2), n = self.size(-1);
  const auto nothing = [&](int64_t size) {
    return zeros(with(batch_of(self), {size, size}), TensorOptions(self));
  };
  return {nothing(m), linalg_svdvals(self), nothing(n)};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A,
                                              bool full_matrices) {
  const Svd out = run_svd("linalg.svd", A, full_matrices, true);
  record_svd(out.U, out.S, out.Vh, A);
  return {out.U, out.S, out.Vh};
}

Tensor linalg_svdvals(const Tensor& A) {
  const bool grad = autograd::needs_grad(A);
  const Svd out = run_svd("linalg.svd", A, false, grad);
  if (grad) record_svd(out.U, out.S, out.Vh, A);
  return out.S;
}

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& A,
                                       const std::string& uplo) {
  const Eigen out = eigh(A, uplo, true);
  return {out.values, out.vectors};
}

Tensor linalg_eigvalsh(const Tensor& A, const std::string& uplo) {
  return eigh(A, uplo, false).values;
}

std::tuple<Tensor, Tensor> linalg_eig(const Tensor& A) {
  const Eigen out = eig(A, true);
  return {out.values, out.vectors};
}

HOTARU_OP(
    "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> "
    "(Tensor U, Tensor S, Tensor Vh)",
    +[](const Tensor& A, bool full_matrices, Optional<std::string> driver) {
      check_driver("torch.linalg.svd", A, driver);
      return linalg_svd(A, full_matrices);
    });
HOTARU_OP(
    "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
    +[](const Tensor& A, Optional<std::string> driver) {
      check_driver("torch.linalg.svd", A, driver);
      return linalg_svdvals(A);
    });
HOTARU_OP(
    "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, "
    "Tensor S, Tensor V)",
    old_svd);
HOTARU_OP(
    "linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor "
    "eigenvectors)",
    linalg_eigh);
HOTARU_OP("linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor",
          linalg_eigvalsh);
HOTARU_OP(
    "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
    linalg_eig);
HOTARU_OP("linalg_eigvals(Tensor self) -> Tensor", eigvals);

}  // namespace hotaru
