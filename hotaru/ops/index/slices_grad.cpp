#include "hotaru/ops/index/slices_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::grad {
namespace {

using autograd::Backward;
using autograd::record;

}  // namespace

void index_select(const Tensor& out, const Tensor& self, int64_t dim,
                  const Tensor& index) {
  record("IndexSelectBackward0", out, {self}, {index},
         [dim, sizes = Dims(self.sizes())](Backward& b,
                                           const Tensor& g) -> Tensors {
           return {hotaru::index_add(zeros(sizes, TensorOptions(g)), dim,
                                     b.saved(0), g)};
         });
}

void index_add(const Tensor& out, const Tensor& self, int64_t dim,
               const Tensor& index, const Tensor& source, const Scalar& alpha) {
  record("IndexAddBackward0", out, {self, source}, {index},
         [dim, alpha, sizes = Dims(source.sizes())](
             Backward& b, const Tensor& g) -> Tensors {
           if (!b.needs(1)) return {g, Tensor()};
           const Tensor at = hotaru::index_select(g, dim, b.saved(0));
           return {g, reshape(mul(at, alpha), sizes)};
         });
}

void index_copy(const Tensor& out, const Tensor& self, int64_t dim,
                const Tensor& index, const Tensor& source) {
  record("IndexCopyBackward0", out, {self, source}, {index},
         [dim, sizes = Dims(source.sizes())](Backward& b,
                                             const Tensor& g) -> Tensors {
           const Tensor at = b.saved(0);
           return {b.needs(0) ? hotaru::index_fill(g, dim, at, Scalar(0))
                              : Tensor(),
                   b.needs(1) ? reshape(hotaru::index_select(g, dim, at), sizes)
                              : Tensor()};
         });
}

void index_fill(const Tensor& out, const Tensor& self, int64_t dim,
                const Tensor& index, const Tensor& value) {
  const char* name =
      value.defined() ? "IndexFillBackward1" : "IndexFillBackward0";
  record(name, out, {self, value}, {index},
         [dim](Backward& b, const Tensor& g) -> Tensors {
           const Tensor at = b.saved(0);
           Tensor value_grad;
           if (b.needs(1)) {
             // Equal indices were filled once; negative ones count from the
             // end, which index_select would not take.
             const Tensor ones_there =
                 hotaru::index_fill(zeros_like(g), dim, at, Scalar(1));
             value_grad = sum(mul(g, ones_there));
           }
           return {b.needs(0) ? hotaru::index_fill(g, dim, at, Scalar(0))
                              : Tensor(),
                   value_grad};
         });
}

void embedding(const Tensor& out, const Tensor& weight, const Tensor& indices,
               int64_t padding_idx, bool scale_grad_by_freq) {
  record("EmbeddingBackward0", out, {weight}, {indices},
         [rows = weight.size(0), padding_idx, scale_grad_by_freq](
             Backward& b, const Tensor& g) -> Tensors {
           return {embedding_dense_backward(g, b.saved(0), rows, padding_idx,
                                            scale_grad_by_freq)};
         });
}

}  // namespace hotaru::grad
