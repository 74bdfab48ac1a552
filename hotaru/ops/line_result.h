// Helpers shared by operators that work along one dimension.
#pragma once

#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/ops/reduce/reduce_dims.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {

/// Runs a kernel with a value and an int64 index for each line along a
/// dimension (max, median, kthvalue ...); the dimension has size 1 in the
/// results, or is dropped.
template <class A>
std::tuple<Tensor, Tensor> run_selection(const Kernel& kernel,
                                         const Tensor& self, int64_t dim,
                                         bool keepdim, const A& attributes) {
  const Dims over = reduced_dims(self, Dims{dim});
  const Dims sizes = kept_sizes(self, over);
  Tensor values = allocate(sizes, self.dtype(), self.device());
  Tensor indices = allocate(sizes, DType::kInt64, self.device());
  enqueue(kernel, {write(values), write(indices), read(self)}, attributes);
  if (!keepdim) {
    drop_dims(values, over);
    drop_dims(indices, over);
  }
  return {values, indices};
}

/// The same of a tensor without dimensions, of any dtype: its only element.
std::tuple<Tensor, Tensor> only_element(const Tensor& self);

namespace grad {

/// Records that `values` are elements of self at `indices` along a dimension
/// (sort, topk, max along a dimension ...). keepdim is true when the
/// dimension still exists in the results.
void selection(const char* name, const Tensor& values, const Tensor& indices,
               const Tensor& self, int64_t dim, bool keepdim);

}  // namespace grad
}  // namespace hotaru
