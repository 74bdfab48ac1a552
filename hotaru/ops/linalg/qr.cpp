// QR and Householder's reflections.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/linalg/linalg.h"
#include "hotaru/ops/linalg/linalg_grad.h"
#include "hotaru/ops/linalg/matrices.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise_grad.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/shape/triangle.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

/// The columns of the product of reflections, made of operators: one after the
/// other from the last on, so that gradients follow.
Tensor reflected(const Tensor& A, const Tensor& tau) {
  const int64_t m = A.size(-2), k = tau.size(-1);
  const Tensor vectors =
      tril(columns(A, 0, k), -1) + eye(m, k, TensorOptions(A));
  Tensor out = expand(eye(m, A.size(-1), TensorOptions(A)), A.sizes());
  for (int64_t i = k; i-- > 0;) {
    const Tensor v = columns(vectors, i, 1);
    const Tensor along = matmul(adjoint(v), out);
    out = out - matmul(v * per_matrix(select(tau, -1, i)), along);
  }
  return out;
}

std::tuple<Tensor, Tensor> old_qr(const Tensor& self, bool some) {
  static constinit OnceWarning deprecated{
      "torch.qr is deprecated in favor of torch.linalg.qr and will be removed "
      "in a future PyTorch release.\nThe boolean parameter 'some' has been "
      "replaced with a string parameter 'mode'.\nQ, R = torch.qr(A, "
      "some)\nshould be replaced with\nQ, R = torch.linalg.qr(A, 'reduced' if "
      "some else 'complete')"};
  deprecated.give();
  return linalg_qr(self, some ? "reduced" : "complete");
}

std::tuple<Tensor, Tensor> geqrf(const Tensor& self) {
  static const Kernel& factor = kernel("linalg_geqrf");
  HOTARU_CHECK(self.dim() >= 2,
               "torch.geqrf: input must have at least 2 dimensions.");
  const Tensor out = allocate(self.sizes(), self.dtype(), self.device());
  const Tensor tau =
      matrices_like(self, {std::min(self.size(-1), self.size(-2))});
  {
    autograd::NoGrad guard;
    const Tensor a = contiguous(self);
    enqueue(factor, {write(out), write(tau), read(a)}, linalg_attributes(self));
  }
  for (const Tensor& result : {out, tau})
    refuse_gradient("GeqrfBackward0",
                    "the derivative for 'geqrf' is not implemented.", result,
                    {self});
  return {out, tau};
}

Tensor ormqr(const Tensor& self, const Tensor& tau, const Tensor& other,
             bool left, bool transpose) {
  const char* op = "torch.ormqr: ";
  HOTARU_CHECK(self.dim() >= 2, op, "input must have at least 2 dimensions.");
  HOTARU_CHECK(other.dim() >= 2, op, "other must have at least 2 dimensions.");
  const int64_t at = left ? -2 : -1, m = self.size(-2), n = self.size(-1);
  HOTARU_CHECK(other.size(at) >= tau.size(-1), op, "other.shape[", at,
               "] must be greater than or equal to tau.shape[-1]");
  HOTARU_CHECK(other.size(at) == m, op, "other.shape[", at,
               "] must be equal to input.shape[-2]");
  HOTARU_CHECK(tau.size(-1) == std::min(other.size(at), n), op,
               "tau.shape[-1] must be equal to min(other.shape[", at,
               "], input.shape[-1])");
  HOTARU_CHECK(tau.size(-1) <= n, op,
               "tau.shape[-1] must be less than or equal to input.shape[-1]");
  HOTARU_CHECK(tau.dim() == self.dim() - 1, op,
               "Expected tau to have one dimension less than input, but got "
               "tau.ndim equal to ",
               tau.dim(), " and input.ndim is equal to ", self.dim());
  HOTARU_CHECK(self.dim() == other.dim(), op,
               "Expected other to have the same number of dimensions as input, "
               "but got other.ndim equal to ",
               other.dim(), " and input.ndim is equal to ", self.dim());
  // All m columns: the rest of Q comes from columns without reflections.
  Tensor full = n > m ? columns(self, 0, m) : self;
  if (n < m)
    full = cat(
        {full, zeros(with(batch_of(self), {m, m - n}), TensorOptions(self))},
        -1);
  Tensor Q = linalg_householder_product(full, tau);
  if (transpose) Q = adjoint(Q);
  return left ? matmul(Q, other) : matmul(other, Q);
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, const std::string& mode) {
  static const Kernel& factor = kernel("linalg_qr");
  HOTARU_CHECK(mode == "reduced" || mode == "complete" || mode == "r",
               "qr received unrecognized mode '", mode,
               "' but expected one of 'reduced' (default), 'r', or "
               "'complete'");
  check_matrix("linalg.qr", A, false);
  LinalgAttributes attrs = linalg_attributes(A);
  attrs.k = mode == "complete" ? attrs.m : std::min(attrs.m, attrs.n);
  const Tensor Q = matrices_like(A, {attrs.m, attrs.k});
  const Tensor R = matrices_like(A, {attrs.k, attrs.n});
  {
    autograd::NoGrad guard;
    const Tensor a = contiguous(A);
    enqueue(factor, {write(Q), write(R), read(a)}, attrs);
  }
  if (mode != "r" && attrs.k <= attrs.n)
    record_qr(Q, R, A);
  else if (autograd::needs_grad(A))
    autograd::record(
        "LinalgQrBackward0", Tensors{Q, R}, {A}, {},
        [mode](autograd::Backward&, const Tensors&) -> Tensors {
          if (mode == "r")
            fail<Error>(
                "The derivative of linalg.qr depends on Q, which is not "
                "computed when mode='r'. Please use linalg.qr(A, "
                "mode='reduced') if you are going to differentiate through "
                "linalg.qr.");
          fail<Error>(
              "The QR decomposition is not differentiable when "
              "mode='complete' and nrows > ncols.");
        });
  if (mode == "r") return {allocate(Dims{0}, A.dtype(), A.device()), R};
  return {Q, R};
}

Tensor linalg_householder_product(const Tensor& A, const Tensor& tau) {
  static const Kernel& product = kernel("linalg_householder");
  const char* op = "torch.linalg.householder_product: ";
  HOTARU_CHECK(A.dim() >= 2, op, "input must have at least 2 dimensions.");
  const int64_t m = A.size(-2), n = A.size(-1);
  HOTARU_CHECK(m >= n, op,
               "input.shape[-2] must be greater than or equal to "
               "input.shape[-1]");
  HOTARU_CHECK(tau.dim() > 0 && n >= tau.size(-1), op,
               "input.shape[-1] must be greater than or equal to "
               "tau.shape[-1]");
  HOTARU_CHECK(A.dim() - tau.dim() == 1, op,
               "Expected tau to have one dimension less than input, but got "
               "tau.ndim equal to ",
               tau.dim(), " and input.ndim is equal to ", A.dim());
  HOTARU_CHECK(
      same(batch_of(A), tau.sizes().first(size_t(tau.dim() - 1))), op,
      "Expected batch dimensions of tau to be equal to input.shape[:-2], but "
      "got ",
      shape_text(tau.sizes().first(size_t(tau.dim() - 1))));
  HOTARU_CHECK(tau.dtype() == A.dtype(), op, "tau dtype ",
               scalar_type_name(tau.dtype()), " does not match input dtype ",
               scalar_type_name(A.dtype()));
  if (autograd::needs_grad(A, tau) && tau.size(-1) > 0)
    return reflected(A, tau);
  const Tensor out = allocate(A.sizes(), A.dtype(), A.device());
  LinalgAttributes attrs = linalg_attributes(A);
  attrs.k = tau.size(-1);
  const Tensor a = contiguous(A), t = contiguous(tau);
  enqueue(product, {write(out), read(a), read(t)}, attrs);
  if (autograd::needs_grad(A))
    grads::zero("LinalgHouseholderProductBackward0", out, A);
  return out;
}

HOTARU_OP("linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)",
          linalg_qr);
HOTARU_OP("qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", old_qr);
HOTARU_OP("geqrf(Tensor self) -> (Tensor a, Tensor tau)", geqrf);
HOTARU_OP("linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
          linalg_householder_product);
HOTARU_OP("orgqr(Tensor self, Tensor input2) -> Tensor",
          linalg_householder_product);
HOTARU_OP(
    "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool "
    "transpose=False) -> Tensor",
    ormqr);

}  // namespace hotaru
