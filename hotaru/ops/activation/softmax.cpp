#include "hotaru/ops/activation/softmax.h"

#include <limits>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/activation/softmax_grad.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/index/mask.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

Tensor run(const Kernel& kernel, const char* name, const Tensor& self,
           int64_t dim) {
  HOTARU_CHECK_AS(
      NotImplementedError, self.is_floating_point(), "\"", name,
      dim == std::max<int64_t>(1, self.dim()) - 1 ? "_lastdim_kernel_impl"
                                                  : "_kernel_impl",
      "\" not implemented for '", scalar_type_name(self.dtype()), "'");
  const Tensor out = row_major_like(self);
  enqueue(kernel, {write(out), read(self)}, LineAttributes{dim});
  return out;
}

/// _softmax and _log_softmax: half_to_float exists on CUDA only.
template <Tensor (*F)(const Tensor&, int64_t, Optional<DType>)>
Tensor internal(const Tensor& self, int64_t dim, bool half_to_float) {
  HOTARU_CHECK(!half_to_float,
               "softmax with half to float conversion is not supported on ",
               "CPU");
  return F(self, dim, {});
}

}  // namespace

Tensor softmax(const Tensor& self, int64_t dim, Optional<DType> dtype) {
  static const Kernel& kernel = hotaru::kernel("softmax");
  const Tensor x = dtype ? to(self, *dtype) : self;
  dim = wrap_dim(dim, x.dim());
  const Tensor out = run(kernel, "softmax", x, dim);
  if (autograd::needs_grad(x)) grad::softmax(out, x, dim);
  return out;
}

Tensor log_softmax(const Tensor& self, int64_t dim, Optional<DType> dtype) {
  static const Kernel& kernel = hotaru::kernel("log_softmax");
  const Tensor x = dtype ? to(self, *dtype) : self;
  dim = wrap_dim(dim, x.dim());
  const Tensor out = run(kernel, "log_softmax", x, dim);
  if (autograd::needs_grad(x)) grad::log_softmax(out, x, dim);
  return out;
}

namespace {

HOTARU_OP("softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
          softmax);
HOTARU_OP(
    "log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    log_softmax);
/// 0 where a whole line is -infinity, instead of NaN; the gradient, too.
Tensor safe_softmax(const Tensor& self, int64_t dim, Optional<DType> dtype) {
  const Tensor x = dtype ? to(self, *dtype) : self;
  Tensor out;
  {
    autograd::NoGrad guard;
    const Scalar lowest(-std::numeric_limits<double>::infinity());
    out = softmax(x, dim);
    out = masked_fill(out, all(eq(x, lowest), Dims{dim}, true), Scalar(0));
  }
  if (autograd::needs_grad(x)) grad::softmax(out, x, wrap_dim(dim, x.dim()));
  return out;
}

HOTARU_OP(
    "_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    safe_softmax);
HOTARU_OP("_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
          internal<softmax>);
HOTARU_OP("_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
          internal<log_softmax>);
HOTARU_OP(
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, "
    "ScalarType input_dtype) -> Tensor",
    softmax_backward_data);
HOTARU_OP(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, "
    "ScalarType input_dtype) -> Tensor",
    log_softmax_backward_data);

}  // namespace
}  // namespace hotaru
