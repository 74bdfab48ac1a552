#include "hotaru/ops/line_result.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {

std::tuple<Tensor, Tensor> only_element(const Tensor& self) {
  const autograd::NoGrad guard;
  return {clone(self),
          zeros(self.sizes(), TensorOptions(DType::kInt64, self.device()))};
}

namespace grad {

void selection(const char* name, const Tensor& values, const Tensor& indices,
               const Tensor& self, int64_t dim, bool keepdim) {
  autograd::record(name, values, {self}, {indices},
                   [sizes = Dims(self.sizes()), dim, keepdim](
                       autograd::Backward& b, const Tensor& g) -> Tensors {
                     const bool restore = !keepdim && !sizes.empty();
                     const auto whole = [&](const Tensor& t) {
                       return restore ? unsqueeze(t, dim) : t;
                     };
                     return {scatter_add(zeros(sizes, TensorOptions(g)), dim,
                                         whole(b.saved(0)), whole(g))};
                   });
}

}  // namespace grad
}  // namespace hotaru
