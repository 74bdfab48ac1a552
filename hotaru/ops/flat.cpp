#include "hotaru/ops/flat.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru {

Tensor flat_in(const char* node, const Tensor& result, const Tensor& x) {
  if (!autograd::needs_grad(x)) return result;
  const Tensor out = make_alias(result);
  autograd::record(
      node, out, {result, x}, {},
      [shape = Dims(x.sizes()), options = TensorOptions(x)](
          autograd::Backward& b, const Tensor& g) -> autograd::Tensors {
        return {g, b.needs(1) ? zeros(shape, options) : Tensor()};
      });
  return out;
}

}  // namespace hotaru
