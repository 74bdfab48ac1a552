#include "hotaru/ops/index/mask_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/mask.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/join.h"

namespace hotaru::grad {

using autograd::Backward;

void masked_select(const Tensor& out, const Tensor& self, const Tensor& mask,
                   IntSpan shape) {
  autograd::record(
      "MaskedSelectBackward0", out, {self}, {mask},
      [shape = Dims(shape), sizes = Dims(self.sizes())](
          Backward& b, const Tensor& g) -> Tensors {
        const Tensor none = zeros(shape, TensorOptions(g));
        return {sum_to(hotaru::masked_scatter(none, b.saved(0), g), sizes)};
      });
}

void masked_scatter(const Tensor& out, const Tensor& self, const Tensor& mask,
                    const Tensor& source) {
  autograd::record(
      "MaskedScatterBackward0", out, {self, source}, {mask},
      [sizes = Dims(source.sizes())](Backward& b, const Tensor& g) -> Tensors {
        const Tensor where = b.saved(0);
        Tensor source_grad;
        if (b.needs(1)) {
          const Tensor used = hotaru::masked_select(g, where);
          const Tensor unused =
              zeros(Dims{numel_of(sizes) - used.numel()}, TensorOptions(g));
          source_grad = reshape(cat({used, unused}), sizes);
        }
        return {b.needs(0) ? masked_fill(g, where, 0) : Tensor(), source_grad};
      });
}

}  // namespace hotaru::grad
