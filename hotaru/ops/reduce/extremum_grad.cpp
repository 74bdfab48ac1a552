#include "hotaru/ops/reduce/extremum_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/reduce_dims.h"

namespace hotaru::grad {
namespace {

using autograd::Backward;
using autograd::saved_output;

Tensor shared(const Tensor& g, const Tensor& self, const Tensor& result,
              IntSpan dims, bool keepdim) {
  const Tensor extreme = restore_dims(result, dims, keepdim);
  const Tensor mask =
      logical_or(eq(self, extreme), logical_and(isnan(self), isnan(extreme)));
  const Tensor count = sum(mask, dims, true);
  return div(mul(restore_dims(g, dims, keepdim), mask), count);
}

}  // namespace

void extremum(const char* name, const Tensor& out, const Tensor& self,
              IntSpan dims, bool keepdim) {
  autograd::record(
      name, out, {self}, {self, saved_output(out)},
      [dims = Dims(dims), keepdim](Backward& b, const Tensor& g) -> Tensors {
        return {shared(g, b.saved(0), b.saved(1), dims, keepdim)};
      });
}

void aminmax(const Tensor& smallest, const Tensor& largest, const Tensor& self,
             IntSpan dims, bool keepdim) {
  autograd::record("AminmaxBackward0", {smallest, largest}, {self},
                   {self, saved_output(smallest), saved_output(largest)},
                   [dims = Dims(dims), keepdim](
                       Backward& b, const Tensors& grads) -> Tensors {
                     Tensor total;
                     for (size_t i = 0; i < 2; ++i) {
                       if (!grads[i].defined()) continue;
                       const Tensor part = shared(
                           grads[i], b.saved(0), b.saved(i + 1), dims, keepdim);
                       total = total.defined() ? add(total, part) : part;
                     }
                     return {total};
                   });
}

}  // namespace hotaru::grad
