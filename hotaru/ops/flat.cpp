#include "hotaru/ops/flat.h"

#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"

namespace hotaru {

Tensor flat_in(const autograd::Backward& b, const Tensor& gradient,
               size_t input, const char* node) {
  if (!autograd::grad_enabled() || !b.needs(input)) return gradient;
  // Where tangents are made of the formula, its inputs came from nowhere.
  if (b.edge(input).node->outputs().empty()) return gradient;
  std::string name = b.name();  // "ReluBackward0"
  name.back() = 'B';
  name += "ackward0";
  if (node) name = node;
  const auto formula = [](autograd::Backward&,
                          const Tensor& g) -> autograd::Tensors {
    return {g, zeros_like(g)};
  };
  const Tensor out = make_alias(gradient);
  autograd::record(name.c_str(), out, {gradient}, {}, formula);
  Ref<autograd::Node> made = autograd::grad_fn(out);
  if (!made) {  // recorded for tangents alone
    made = make_ref<autograd::RecordedNode>(
        name.c_str(),
        [formula](autograd::Backward& b, const autograd::Tensors& grads) {
          return formula(b, grads[0]);
        });
    made->add_edge({});
    autograd::set_history(out, made);
  }
  made->add_edge(b.edge(input));
  return out;
}

Tensor harmless(const Tensor& t, const Tensor& mask) {
  return autograd::grad_enabled() ? masked_fill(t, mask, 1) : t;
}

}  // namespace hotaru
