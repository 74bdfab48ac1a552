// What operators that reduce dimensions have in common.
#pragma once

#include "hotaru/ops/boxing.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {

/// The dimensions of a dim= argument: wrapped, ascending, each once; all of
/// them for an empty list.
Dims reduced_dims(const Tensor& self, IntSpan dims);

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
  Tensor out = allocate(kept_sizes(self, dims), dtype, self.device());
  enqueue(kernel, {write(out), read(self)}, attributes);
  if (!keepdim) drop_dims(out, dims);
  return out;
}
struct NoAttributes {};

}  // namespace hotaru
