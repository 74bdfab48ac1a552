#include "hotaru/ops/activation/softmax_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

/// One kernel when nothing has to be recorded; grad and output agree in shape
/// and dtype.
Tensor fused(const Kernel& kernel, const Tensor& g, const Tensor& output,
             int64_t dim) {
  const Tensor out = empty_like(output);
  enqueue(kernel, {write(out), read(g), read(output)}, LineAttributes{dim});
  return out;
}

void check_grad(const Tensor& grad, const Tensor& output) {
  HOTARU_CHECK(same(grad.sizes(), output.sizes()),
               "softmax_backward: grad_output of size ",
               shape_text(grad.sizes()), " does not fit output of size ",
               shape_text(output.sizes()));
}

}  // namespace

Tensor softmax_backward_data(const Tensor& grad, const Tensor& output,
                             int64_t dim, DType input_dtype) {
  static const Kernel& kernel = hotaru::kernel("softmax_backward");
  check_grad(grad, output);
  dim = wrap_dim(dim, output.dim());
  if (!autograd::needs_grad(grad, output) && grad.dtype() == output.dtype())
    return to(fused(kernel, grad, output, dim), input_dtype);
  const Tensor y = widened(output), weighted = mul(widened(grad), y);
  return to(sub(weighted, mul(y, sum(weighted, Dims{dim}, true))), input_dtype);
}

Tensor log_softmax_backward_data(const Tensor& grad, const Tensor& output,
                                 int64_t dim, DType input_dtype) {
  static const Kernel& kernel = hotaru::kernel("log_softmax_backward");
  check_grad(grad, output);
  dim = wrap_dim(dim, output.dim());
  if (!autograd::needs_grad(grad, output) && grad.dtype() == output.dtype())
    return to(fused(kernel, grad, output, dim), input_dtype);
  const Tensor g = widened(grad);
  return to(sub(g, mul(exp(widened(output)), sum(g, Dims{dim}, true))),
            input_dtype);
}

namespace grad {

void softmax(const Tensor& out, const Tensor& self, int64_t dim) {
  autograd::record(
      "SoftmaxBackward0", out, {self}, {autograd::saved_output(out)},
      [dim, dtype = self.dtype()](autograd::Backward& b,
                                  const Tensor& g) -> autograd::Tensors {
        return {softmax_backward_data(g, b.saved(0), dim, dtype)};
      });
}

void log_softmax(const Tensor& out, const Tensor& self, int64_t dim) {
  autograd::record(
      "LogSoftmaxBackward0", out, {self}, {autograd::saved_output(out)},
      [dim, dtype = self.dtype()](autograd::Backward& b,
                                  const Tensor& g) -> autograd::Tensors {
        return {log_softmax_backward_data(g, b.saved(0), dim, dtype)};
      });
}

}  // namespace grad
}  // namespace hotaru
