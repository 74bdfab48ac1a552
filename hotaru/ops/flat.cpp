#include "hotaru/ops/flat.h"

#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"

namespace hotaru {

namespace {

/// Tells whether somebody may differentiate what a formula gives for its input.
/// Where tangents are made of it, its inputs came from nowhere.
bool wanted(const autograd::Backward& b, size_t input) {
  return autograd::grad_enabled() && b.needs(input) &&
         !b.edge(input).node->outputs().empty();
}

/// `gradient` with a node of that name, over which zeros flow to `edge`.
Tensor with_zeros_to(const autograd::Edge& edge, const Tensor& gradient,
                     const std::string& name) {
  const auto formula = [sizes = edge.node->outputs()[edge.index].sizes](
                           autograd::Backward&,
                           const Tensor& g) -> autograd::Tensors {
    return {g, zeros(sizes, TensorOptions(g))};
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
  made->add_edge(edge);
  return out;
}

}  // namespace

Tensor flat_in(const autograd::Backward& b, const Tensor& gradient,
               size_t input, const char* node) {
  if (!wanted(b, input)) return gradient;
  std::string name = b.name();  // "ReluBackward0"
  name.back() = 'B';
  name += "ackward0";
  return with_zeros_to(b.edge(input), gradient, node ? node : name);
}

Tensor flat_in_both(const autograd::Backward& b, const Tensor& gradient) {
  return flat_in(b, flat_in(b, gradient, 0), 1);
}

Tensor flat_in_output(const autograd::Backward& b, const Tensor& gradient,
                      const char* node) {
  return wanted(b, 0) ? with_zeros_to(b.own_edge(), gradient, node) : gradient;
}

Tensor harmless(const Tensor& t, const Tensor& mask) {
  return autograd::grad_enabled() ? masked_fill(t, mask, 1) : t;
}

Tensor widened(const Tensor& t) {
  return itemsize(t.dtype()) == 2 ? to(t, DType::kFloat32) : t;
}

Tensor in_precision_of(const Tensor& like, const Tensor& t) {
  const auto precision = [](DType d) { return itemsize(to_real(d)); };
  const bool finer = is_integral(t.dtype(), true) || t.impl()->wrapped_number ||
                     precision(t.dtype()) < precision(like.dtype());
  if (!finer || (t.is_complex() && !like.is_complex())) return t;
  return to(make_alias(t), like.dtype());
}

}  // namespace hotaru
