// Helpers shared by operators that reduce dimensions.
#pragma once

#include "hotaru/ops/boxing.h"
#include "hotaru/runtime/result_place.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {

/// The dimensions of a dim= argument: wrapped, ascending, each once; all of
/// them for an empty list.
Dims reduced_dims(const Tensor& self, IntSpan dims);

/// Sizes but for those of `dims`, which are in order.
Dims without_dims(IntSpan sizes, IntSpan dims);
/// Sizes of self with 1 in the reduced dimensions.
Dims kept_sizes(const Tensor& self, IntSpan dims);
/// Changes the shape of a fresh result from that to one without them.
void drop_dims(const Tensor& result, IntSpan dims);
/// Elements that each result is made of.
int64_t reduced_numel(const Tensor& self, IntSpan dims);

/// Gives a reduced tensor its dimensions back, with size 1: what its gradient
/// needs to be broadcast. Differentiable.
Tensor restore_dims(const Tensor& reduced, IntSpan dims, bool keepdim);

/// Throws unless dimension `dim` has elements to choose from: "max():
/// Expected reduction dim 0 to have non-zero size."
void check_nonempty_dim(const char* op, const Tensor& self, int64_t dim);

/// Runs a reduction kernel with one result of the given dtype. `dims` is what
/// reduced_dims() gave.
template <class A>
Tensor run_reduction(const Kernel& kernel, const Tensor& self, IntSpan dims,
                     bool keepdim, DType dtype, const A& attributes) {
  const Dims kept = kept_sizes(self, dims);
  if (keepdim) {
    Tensor out = allocate_result(kept, dtype, self.device());
    enqueue(kernel, {write(out), read(self)}, attributes);
    return out;
  }
  Tensor out = allocate_result(without_dims(kept, dims), dtype, self.device());
  // The kernel sees all dimensions.
  out.impl()->set_geometry(kept, contiguous_strides(kept),
                           out.storage_offset());
  enqueue(kernel, {write(out), read(self)}, attributes);
  drop_dims(out, dims);
  return out;
}
struct NoAttributes {};

}  // namespace hotaru
