#include "hotaru/ops/loss/loss_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/loss/loss.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {

Tensor spread_loss_gradient(const Tensor& g, IntSpan size, int64_t reduction) {
  if (reduction == kNoReduction) return g;
  const Tensor spread = expand(g, size);
  if (reduction == kSum) return spread;
  return expand(g / double(numel_of(size)), size);
}

void record_difference_loss(
    const char* node, const Tensor& out, const Tensor& self,
    const Tensor& target, int64_t reduction,
    std::function<Tensor(const Tensor& x, const Tensor& t)> slope) {
  if (!autograd::needs_grad(self, target)) return;
  autograd::record(node, out, {self, target}, {self, target},
                   [reduction, slope = std::move(slope)](
                       autograd::Backward& b, const Tensor& g) -> Tensors {
                     const Tensor x = b.saved(0), t = b.saved(1);
                     const Dims size = broadcast_shapes(x.sizes(), t.sizes());
                     const DType dtype = result_type({x, t});
                     const Tensor d = spread_loss_gradient(g, size, reduction) *
                                      slope(to(x, dtype), to(t, dtype));
                     return {b.needs(0) ? sum_to(d, x.sizes()) : Tensor(),
                             b.needs(1) ? sum_to(-d, t.sizes()) : Tensor()};
                   });
}

}  // namespace hotaru
