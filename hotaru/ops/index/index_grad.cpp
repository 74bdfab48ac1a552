#include "hotaru/ops/index/index_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/index.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::grad {
namespace {

using autograd::Backward;
using autograd::Save;

Tensors saved_indices(Backward& b, size_t count) {
  Tensors out;
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) out.push_back(b.saved(i));
  return out;
}

}  // namespace

void index(const Tensor& out, const Tensor& self, const Tensors& indices) {
  autograd::record(
      "IndexBackward0", Tensors{out}, Tensors{self},
      std::vector<Save>(indices.begin(), indices.end()),
      [count = indices.size(), sizes = Dims(self.sizes())](
          Backward& b, const Tensors& grads) -> Tensors {
        const Tensor& g = grads[0];
        if (!g.defined()) return {Tensor()};
        return {hotaru::index_put_(zeros(sizes, TensorOptions(g)),
                                   saved_indices(b, count), g, true)};
      });
}

void index_put(const Tensor& out, const Tensor& self, const Tensors& indices,
               const Tensor& values, bool accumulate) {
  autograd::record(
      "IndexPutBackward0", Tensors{out}, Tensors{self, values},
      std::vector<Save>(indices.begin(), indices.end()),
      [count = indices.size(), sizes = Dims(values.sizes()), accumulate](
          Backward& b, const Tensors& grads) -> Tensors {
        const Tensor& g = grads[0];
        if (!g.defined()) return {Tensor(), Tensor()};
        const Tensors at = saved_indices(b, count);
        Tensor self_grad = g;
        if (b.needs(0) && !accumulate)
          self_grad = hotaru::index_put(g, at, zeros(Dims{}, TensorOptions(g)));
        return {self_grad,
                b.needs(1) ? sum_to(hotaru::index(g, at), sizes) : Tensor()};
      });
}

void take(const Tensor& out, const Tensor& self, const Tensor& index) {
  autograd::record(
      "TakeBackward0", out, {self}, {index},
      [sizes = Dims(self.sizes())](Backward& b, const Tensor& g) -> Tensors {
        return {
            hotaru::put_(zeros(sizes, TensorOptions(g)), b.saved(0), g, true)};
      });
}

void put(const Tensor& out, const Tensor& self, const Tensor& index,
         const Tensor& source, bool accumulate) {
  autograd::record(
      "PutBackward0", out, {self, source}, {index},
      [sizes = Dims(source.sizes()), accumulate](Backward& b,
                                                 const Tensor& g) -> Tensors {
        const Tensor at = b.saved(0);
        Tensor self_grad = g;
        if (b.needs(0) && !accumulate)
          self_grad = hotaru::put(g, at, zeros(at.sizes(), TensorOptions(g)));
        return {self_grad,
                b.needs(1) ? reshape(hotaru::take(g, at), sizes) : Tensor()};
      });
}

}  // namespace hotaru::grad
