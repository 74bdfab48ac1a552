#include "hotaru/ops/linalg/linalg.h"

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/linalg/linalg.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/linalg/linalg_grad.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/pointwise_grad.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

void check_square(const char* op, const Tensor& A) {
  HOTARU_CHECK(A.size(-1) == A.size(-2), op,
               ": A must be batches of square matrices, but they are ",
               A.size(-2), " by ", A.size(-1), " matrices");
}

void check_batch(const char* op, const Tensor& A) {
  HOTARU_CHECK(A.dim() >= 2, op,
               ": The input tensor A must have at least 2 dimensions.");
}

/// Throws unless A is a batch of (square) matrices of a dtype these kernels
/// have. `op` is "linalg.inv" and the like.
void check_matrix(const char* op, const Tensor& A, bool square) {
  check_batch(op, A);
  HOTARU_CHECK(is_differentiable(A.dtype()), op,
               ": Expected a floating point or complex tensor as input. Got ",
               scalar_type_name(A.dtype()));
  HOTARU_CHECK(A.dtype() != DType::kFloat16 && A.dtype() != DType::kBFloat16,
               op, ": Low precision dtypes not supported. Got ",
               scalar_type_name(A.dtype()));
  if (square) check_square(op, A);
}

IntSpan batch_of(const Tensor& t) {
  return t.sizes().first(size_t(t.dim() - 2));
}

Dims with(IntSpan batch, std::initializer_list<int64_t> rest) {
  Dims out(batch);
  for (int64_t s : rest) out.push_back(s);
  return out;
}

LinalgAttributes attributes(const Tensor& A) {
  LinalgAttributes a;
  a.batch = numel_of(batch_of(A));
  a.m = A.size(-2);
  a.n = A.size(-1);
  a.batched = A.dim() > 2;
  return a;
}

/// Solves for matrices B of A's batch; no gradient.
Tensor solve_matrices(const Tensor& A, const Tensor& B, bool inverse) {
  static const Kernel& solve = kernel("linalg_solve");
  autograd::NoGrad guard;
  LinalgAttributes attrs = attributes(A);
  attrs.n = B.size(-1);
  attrs.inverse = inverse;
  const Tensor X = allocate(B.sizes(), B.dtype(), B.device());
  const Tensor a = contiguous(A), b = contiguous(B);
  enqueue(solve, {write(X), read(a), read(b)}, attrs);
  return X;
}

struct Determinant {
  Tensor value, sign, logabs;
};

Determinant determinant(const char* op, const Tensor& A) {
  static const Kernel& kernel_ = kernel("linalg_determinant");
  check_matrix(op, A, true);
  autograd::NoGrad guard;
  const Determinant out{allocate(batch_of(A), A.dtype(), A.device()),
                        allocate(batch_of(A), A.dtype(), A.device()),
                        allocate(batch_of(A), to_real(A.dtype()), A.device())};
  const Tensor a = contiguous(A);
  enqueue(kernel_,
          {write(out.value), write(out.sign), write(out.logabs), read(a)},
          attributes(A));
  return out;
}

Tensor cholesky_of(const char* op, const Tensor& A, bool upper) {
  static const Kernel& factor = kernel("linalg_cholesky");
  check_matrix(op, A, true);
  const auto adjoint = [](const Tensor& t) {
    return conj(transpose(t, -2, -1));
  };
  const Tensor source = upper ? adjoint(A) : A;
  const Tensor L = allocate(A.sizes(), A.dtype(), A.device());
  LinalgAttributes attrs = attributes(A);
  attrs.name = op;
  {
    autograd::NoGrad guard;
    const Tensor a = contiguous(source);
    enqueue(factor, {write(L), read(a)}, attrs);
  }
  record_cholesky(L, source);
  return upper ? adjoint(L) : L;
}

}  // namespace

Tensor linalg_inv(const Tensor& A) {
  check_matrix("linalg.inv", A, true);
  Tensor unit;
  {
    autograd::NoGrad guard;
    unit = expand(eye(A.size(-1), A.size(-1), TensorOptions(A)), A.sizes());
  }
  const Tensor out = solve_matrices(A, unit, true);
  record_inverse(out, A);
  return out;
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

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  check_matrix("linalg.solve", A, true);
  HOTARU_CHECK(A.dtype() == B.dtype(),
               "linalg.solve: Expected A and B to have the same dtype, but "
               "found A of type ",
               scalar_type_name(A.dtype()), " and B of type ",
               scalar_type_name(B.dtype()), " instead");
  const bool vector =
      B.dim() == 1 || (B.dim() == A.dim() - 1 &&
                       same(B.sizes(), A.sizes().first(size_t(A.dim() - 1))));
  if (!left && !vector) {
    const Tensor X =
        linalg_solve(transpose(A, -2, -1), transpose(B, -2, -1), true);
    return transpose(X, -2, -1);
  }
  HOTARU_CHECK(left || !vector,
               "linalg.solve: Vector broadcasting of the left hand side is "
               "not supported for left=False. In this case linalg.solve is "
               "equivalent to B / A.squeeze(-1)");
  const Tensor matrices = vector ? unsqueeze(B, -1) : B;
  HOTARU_CHECK(matrices.dim() >= 2 && matrices.size(-2) == A.size(-1),
               "linalg.solve: Incompatible shapes of A and B for the equation "
               "AX = B (",
               A.size(-2), "x", A.size(-1), " and ", matrices.size(-2), "x",
               matrices.size(-1), ")");
  const Dims batch = broadcast_shapes(batch_of(A), batch_of(matrices));
  const Tensor a = expand(A, with(batch, {A.size(-2), A.size(-1)}));
  const Tensor b =
      expand(matrices, with(batch, {matrices.size(-2), matrices.size(-1)}));
  const Tensor X = solve_matrices(a, b, false);
  record_solve(X, a, b);
  return vector ? squeeze(X, -1) : X;
}

Tensor linalg_cholesky(const Tensor& A, bool upper) {
  return cholesky_of("linalg.cholesky", A, upper);
}

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, const std::string& mode) {
  static const Kernel& factor = kernel("linalg_qr");
  HOTARU_CHECK(mode == "reduced" || mode == "complete" || mode == "r",
               "qr received unrecognized mode '", mode,
               "' but expected one of 'reduced' (default), 'r', or "
               "'complete'");
  check_matrix("linalg.qr", A, false);
  LinalgAttributes attrs = attributes(A);
  attrs.k = mode == "complete" ? attrs.m : std::min(attrs.m, attrs.n);
  const Tensor Q =
      allocate(with(batch_of(A), {attrs.m, attrs.k}), A.dtype(), A.device());
  const Tensor R =
      allocate(with(batch_of(A), {attrs.k, attrs.n}), A.dtype(), A.device());
  {
    autograd::NoGrad guard;
    const Tensor a = contiguous(A);
    enqueue(factor, {write(Q), write(R), read(a)}, attrs);
  }
  if (autograd::needs_grad(A)) {
    HOTARU_CHECK(mode == "reduced" && attrs.m >= attrs.n,
                 "The QR decomposition is differentiable here only for "
                 "mode='reduced' and at least as many rows as columns");
    record_qr(Q, R, A);
  }
  if (mode == "r") return {allocate(Dims{0}, A.dtype(), A.device()), R};
  return {Q, R};
}

namespace {

Tensor old_cholesky(const Tensor& self, bool upper) {
  return cholesky_of("cholesky", self, upper);
}

std::tuple<Tensor, Tensor> old_qr(const Tensor& self, bool some) {
  return linalg_qr(self, some ? "reduced" : "complete");
}

Tensor matrix_power(const Tensor& self, int64_t n) {
  // There are only products, which every dtype has; or inv() checks the rest.
  check_batch("linalg.matrix_power", self);
  check_square("linalg.matrix_power", self);
  const auto inverse = [](const Tensor& a) {
    return autocast::active() ? autocast::by_name("linalg_inv", "", {a})
                              : linalg_inv(a);
  };
  const Tensor base = n < 0 ? inverse(self) : self;
  const auto product = [](const Tensor& a, const Tensor& b) {
    return matmul(autocast::lowered(a), autocast::lowered(b));
  };
  Tensor out, square = base;
  for (uint64_t left = n < 0 ? -uint64_t(n) : uint64_t(n); left; left >>= 1) {
    if (left & 1) out = out.defined() ? product(out, square) : square;
    if (left > 1) square = product(square, square);
  }
  if (out.defined()) return out.is_same(self) ? clone(self) : out;
  const Tensor unit = without_base(contiguous(expand(
      eye(self.size(-1), self.size(-1), TensorOptions(self)), self.sizes())));
  if (autograd::needs_grad(self))
    grads::zero("MatrixPowerBackward0", unit, self);
  return unit;
}

}  // namespace

HOTARU_OP("linalg_inv(Tensor A) -> Tensor", linalg_inv);
HOTARU_OP("inverse(Tensor self) -> Tensor", linalg_inv);
HOTARU_OP("linalg_det(Tensor A) -> Tensor", linalg_det);
HOTARU_OP("det(Tensor self) -> Tensor", linalg_det);
HOTARU_OP("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
          linalg_slogdet);
HOTARU_OP("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
          linalg_slogdet);
HOTARU_OP("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
          linalg_solve);
HOTARU_OP("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
          linalg_cholesky);
HOTARU_OP("cholesky(Tensor self, bool upper=False) -> Tensor", old_cholesky);
HOTARU_OP("linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)",
          linalg_qr);
HOTARU_OP("qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", old_qr);
HOTARU_OP("matrix_power(Tensor self, int n) -> Tensor", matrix_power);
HOTARU_OP("linalg_matrix_power(Tensor self, int n) -> Tensor", matrix_power);

}  // namespace hotaru
