#include "hotaru/ops/refuse.h"

#include "hotaru/autograd/record.h"

namespace hotaru {

void refuse_gradient(const char* node, std::string text, const Tensor& out,
                     const Tensors& inputs) {
  if (!autograd::needs_grad(inputs)) return;
  autograd::record(
      node, {out}, inputs, {},
      [text = std::move(text)](autograd::Backward&, const Tensors&) -> Tensors {
        fail<NotImplementedError>(text);
      });
}

}  // namespace hotaru
